// Compiled once for every instruction set that Highway knows of on this kind of processor; the best
// one is chosen at run time.
#include "kernel/attention_head.h"

#include <new>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/attention_head.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h, and before whatever includes that
#include <hwy/highway.h>
#include "kernel/attention_backward-inl.h"
#include "kernel/attention_forward-inl.h"
#include "kernel/attention_last-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {
void ForwardFloat(const HeadShape& shape, const HeadGroup<float>& group, Scratch<float>& scratch) {
  Forward<float>(shape, group, scratch).run();
}
void ForwardDouble(const HeadShape& shape, const HeadGroup<double>& group,
                   Scratch<double>& scratch) {
  Forward<double>(shape, group, scratch).run();
}
void LastFloat(const HeadShape& shape, const HeadGroup<float>& group, Scratch<float>& scratch) {
  LastQuery<float>(shape, group, scratch).run();
}
void LastDouble(const HeadShape& shape, const HeadGroup<double>& group, Scratch<double>& scratch) {
  LastQuery<double>(shape, group, scratch).run();
}
void BackwardFloat(const HeadShape& shape, const HeadGroup<float>& group,
                   const GroupGradients<float>& gradients, Scratch<float>& scratch) {
  Backward<float>(shape, group, gradients, scratch).run();
}
void BackwardDouble(const HeadShape& shape, const HeadGroup<double>& group,
                    const GroupGradients<double>& gradients, Scratch<double>& scratch) {
  Backward<double>(shape, group, gradients, scratch).run();
}
const char* Target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace difflab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace difflab::kernel {

HWY_EXPORT(ForwardFloat);
HWY_EXPORT(ForwardDouble);
HWY_EXPORT(LastFloat);
HWY_EXPORT(LastDouble);
HWY_EXPORT(BackwardFloat);
HWY_EXPORT(BackwardDouble);
HWY_EXPORT(Target);

template <class T>
T* Scratch<T>::take(std::size_t count) {
  if (used_ == pieces_.size()) pieces_.emplace_back();
  auto& piece = pieces_[used_++];
  if (piece.count < count) {
    piece = {hwy::AllocateAligned<T>(count), count};
    if (piece.numbers == nullptr) throw std::bad_alloc();
  }
  return piece.numbers.get();
}
template class Scratch<float>;
template class Scratch<double>;

void forward_group(const HeadShape& shape, const HeadGroup<float>& group, Scratch<float>& scratch) {
  HWY_DYNAMIC_DISPATCH(ForwardFloat)(shape, group, scratch);
  scratch.release();
}
void forward_group(const HeadShape& shape, const HeadGroup<double>& group,
                   Scratch<double>& scratch) {
  HWY_DYNAMIC_DISPATCH(ForwardDouble)(shape, group, scratch);
  scratch.release();
}
void last_query(const HeadShape& shape, const HeadGroup<float>& group, Scratch<float>& scratch) {
  HWY_DYNAMIC_DISPATCH(LastFloat)(shape, group, scratch);
  scratch.release();
}
void last_query(const HeadShape& shape, const HeadGroup<double>& group, Scratch<double>& scratch) {
  HWY_DYNAMIC_DISPATCH(LastDouble)(shape, group, scratch);
  scratch.release();
}
void backward_group(const HeadShape& shape, const HeadGroup<float>& group,
                    const GroupGradients<float>& gradients, Scratch<float>& scratch) {
  HWY_DYNAMIC_DISPATCH(BackwardFloat)(shape, group, gradients, scratch);
  scratch.release();
}
void backward_group(const HeadShape& shape, const HeadGroup<double>& group,
                    const GroupGradients<double>& gradients, Scratch<double>& scratch) {
  HWY_DYNAMIC_DISPATCH(BackwardDouble)(shape, group, gradients, scratch);
  scratch.release();
}
const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(Target)(); }

void use_at_most_avx2() {
#if HWY_ARCH_X86
  hwy::DisableTargets(HWY_AVX2 - 1);  // a wider one has a lower bit
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
#endif
}

}  // namespace difflab::kernel
#endif  // HWY_ONCE
