#include "record/lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <sstream>
#include <utility>

#include "util/error.h"
#include "util/files.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kPoll = 20ms;
constexpr auto kRecent = std::chrono::minutes(2);
constexpr std::string_view kHeld = "held", kFree = "free", kSealed = "sealed";
constexpr std::string_view kUnlocked = "elsewhere";

// This machine since it started: a process number of an earlier start means nothing.
const std::string& machine() {
  static const std::string name = concat(host_name(), "/", boot_id());
  return name;
}

fs::path claim_file(const RunDirectory& run, std::uint64_t epoch) {
  return run.claims() / std::to_string(epoch);
}

// 0 if it is no claim's file.
std::uint64_t epoch_of(const fs::path& file) {
  return parse_whole<std::uint64_t>(file.filename().string()).value_or(0);
}

std::uint64_t last_epoch(const RunDirectory& run) {
  std::uint64_t last = 0;  // no folder: nobody was ever here
  for (const auto& file : paths_in(run.claims())) last = std::max(last, epoch_of(file));
  return last;
}

// "held MACHINE PID\nBEAT\n", where there are no locks "held elsewhere MACHINE PID\nBEAT\n";
// nothing is read from a file that is just being made.
struct Claim {
  std::uint64_t epoch = 0;
  std::string content;

  bool is(std::string_view kind) const { return content.starts_with(kind); }
  /// The process number of the holder if it is on this machine and has the lock, else 0.
  pid_t process_here() const { return process_in(first_line()); }
  /// The same, with or without the lock, which says nothing about whether it still is there.
  pid_t named_here() const {
    auto words = first_line();
    const auto begin = words.tellg();
    std::string where;
    if (words >> where; where != kUnlocked) words.seekg(begin);
    return process_in(std::move(words));
  }

  /// "process 12 on HOST".
  std::string holder() const {
    auto words = first_line();
    std::string where, process;
    if (words >> where; where == kUnlocked) words >> where;
    words >> process;
    return concat("process ", process, " on ", where.substr(0, where.find('/')));
  }

 private:
  // Words of the claim's first line after its kind.
  std::istringstream first_line() const {
    std::istringstream words(content.substr(0, content.find('\n')));
    std::string kind;
    words >> kind;
    return words;
  }
  static pid_t process_in(std::istringstream words) {
    std::string where;
    pid_t process = 0;
    return words >> where >> process && where == machine() ? process : 0;
  }
};

Claim last_claim(const RunDirectory& run) {
  Claim claim{last_epoch(run), {}};
  if (claim.epoch == 0) return claim;
  try {
    claim.content = read_file(claim_file(run, claim.epoch));
  } catch (const UserError&) {  // gone in this moment; the next look sees what follows it
  }
  return claim;
}

// True if the kernel has released the lock of the claim's holder, as it does when that ends.
bool holder_is_gone(const RunDirectory& run, const Claim& claim) {
  if (claim.process_here() == 0) return false;
  const int descriptor =
      ::open(claim_file(run, claim.epoch).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  // A shared lock: two that ask at the same instant do not take each other for a holder.
  const bool gone = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  ::close(descriptor);
  return gone;
}

bool is_held(const RunDirectory& run, const Claim& claim) {
  return claim.epoch != 0 && !claim.is(kFree) && !holder_is_gone(run, claim);
}

// The last line of a claim, always of the same length.
std::string beat_text(std::uint64_t beat) {
  const auto digits = std::to_string(beat);
  return std::string(20 - digits.size(), '0') + digits + "\n";
}

// Creates `file`, locks it where the filesystem can and writes who we are; -1 if it exists.
int write_claim(const fs::path& file, std::string_view kind) {
  const int descriptor =
      ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kNewFileMode);
  if (descriptor < 0) {
    if (errno == EEXIST) return -1;
    fail_at("create", file);
  }
  const bool locked = ::flock(descriptor, LOCK_EX) == 0;
  // Without the kernel's lock nobody may conclude from its absence that we are gone.
  const auto content = concat(kind, ' ', locked ? "" : concat(kUnlocked, ' '), machine(), ' ',
                              ::getpid(), '\n', beat_text(0));
  if (::write(descriptor, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    const int error = errno;
    ::close(descriptor);
    ::unlink(file.c_str());
    fail_at("write", file, error);
  }
  return descriptor;
}

// -1 if the epoch is taken by somebody else already. The name appears with its content: one that a
// killed process left empty would look held until it is old.
int create_claim(const RunDirectory& run, std::uint64_t epoch, std::string_view kind) {
  make_directories(run.claims());
  const auto file = claim_file(run, epoch);
  const auto unnamed = temporary_beside(file);
  const int descriptor = write_claim(unnamed, kind);
  const int error = ::link(unnamed.c_str(), file.c_str()) == 0 ? 0 : errno;
  ::unlink(unnamed.c_str());
  if (error == 0) return descriptor;
  ::close(descriptor);
  // A filesystem without hard links, or a new holder has taken the temporary away.
  return error == EEXIST ? -1 : write_claim(file, kind);
}

// The epoch after `epoch`, free for whoever comes; false if somebody was faster.
bool set_free(const RunDirectory& run, std::uint64_t epoch) {
  const int descriptor = create_claim(run, epoch + 1, kFree);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0;
}

// Temporaries of the files that only a holder writes. One that was overtaken in the middle of a
// write must not be able to end it. The configuration is written by sweeps, which hold nothing: of
// theirs only those of dead processes go.
void remove_temporaries(const RunDirectory& run) {
  const auto of_config = concat(".", run.config().filename().string(), ".");
  std::error_code ignored;
  for (const auto& folder : {run.path, run.answers(), run.claims()}) {
    for (const auto& file : paths_in(folder)) {
      const auto name = file.filename().string();
      const bool temporary = name.starts_with('.') && name.ends_with(".tmp");
      if (temporary && !name.starts_with(of_config)) fs::remove(file, ignored);
    }
  }
  remove_abandoned_temporaries(run.path);
}

// The last ones stay. Somebody who looked a while ago must find the name that he wants to create
// taken, and a folder that is read while claims come and go must show one of them.
constexpr std::uint64_t kClaimsKept = 16;

void remove_claims_before(const RunDirectory& run, std::uint64_t epoch) {
  std::error_code ignored;
  for (const auto& file : paths_in(run.claims())) {
    const auto old = epoch_of(file);
    if (old > 0 && old + kClaimsKept < epoch) fs::remove(file, ignored);
  }
}

// Time by the clock that dates the files of this folder, which may be another machine's; by ours
// where nothing can be written.
std::time_t now_in(const fs::path& folder) {
  const auto file = folder / concat(".now.", host_name(), ".", ::getpid());
  ::unlink(file.c_str());  // never into a file that somebody has put there
  const int descriptor =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kNewFileMode);
  struct stat info {};
  const bool is_known = descriptor >= 0 && ::write(descriptor, "", 1) == 1 &&
                        ::fsync(descriptor) == 0 && ::fstat(descriptor, &info) == 0;
  if (descriptor >= 0) {
    ::close(descriptor);
    ::unlink(file.c_str());
  }
  return is_known ? info.st_mtime : std::time(nullptr);
}

}  // namespace

LeaseTimes LeaseTimes::from_environment() {
  LeaseTimes times;
  const auto text = environment("DIFFLAB_LEASE_SECONDS");
  if (text.empty()) return times;
  const double seconds = parse_whole<double>(text).value_or(0);
  if (!(seconds > 0 && seconds <= 86'400)) {
    throw UserError(concat("DIFFLAB_LEASE_SECONDS is ", text,
                           "; expected a number of seconds above 0, at most 86400"));
  }
  times.silence =
      std::chrono::milliseconds(std::max<std::int64_t>(6, std::llround(seconds * 1000)));
  times.beat = times.silence / 6;
  return times;
}

std::optional<std::uint64_t> LeaseWatch::free_after(const RunDirectory& run) {
  const auto claim = last_claim(run);
  if (!is_held(run, claim)) return claim.epoch;
  auto& seen = seen_[run.path.string()];
  const auto now = Clock::now();
  if (seen.epoch != claim.epoch || seen.content != claim.content) {
    seen = {claim.epoch, claim.content, now};
  } else if (now - seen.since >= times_.silence && set_free(run, claim.epoch)) {
    return claim.epoch + 1;
  }
  return std::nullopt;
}

bool looks_taken(const RunDirectory& run) {
  const auto claim = last_claim(run);
  if (!is_held(run, claim)) return false;
  if (claim.process_here() != 0) return true;
  struct stat info {};
  if (::stat(claim_file(run, claim.epoch).c_str(), &info) != 0) return false;
  return std::chrono::seconds(now_in(run.claims()) - info.st_mtime) < kRecent;
}

pid_t holder_here(const RunDirectory& run) {
  const auto claim = last_claim(run);
  return is_held(run, claim) ? claim.named_here() : 0;
}

std::string holder_of(const RunDirectory& run) {
  const auto claim = last_claim(run);
  const bool held = claim.is(kHeld) && !holder_is_gone(run, claim);
  return held ? claim.holder() : "";
}

std::unique_ptr<Lease> Lease::acquire(const RunDirectory& run,
                                      const std::function<bool()>& stop_requested,
                                      LeaseTimes times) {
  LeaseWatch watch(times);
  while (!stop_requested()) {
    if (const auto last = watch.free_after(run)) {
      if (auto lease = take_after(run, *last, times)) return lease;
    }
    std::this_thread::sleep_for(kPoll);
  }
  return nullptr;
}

std::unique_ptr<Lease> Lease::acquire_if_free(const RunDirectory& run, LeaseTimes times) {
  LeaseWatch watch(times);
  while (const auto last = watch.free_after(run)) {
    if (auto lease = take_after(run, *last, times)) return lease;
  }
  return nullptr;
}

std::unique_ptr<Lease> Lease::take_after(const RunDirectory& run, std::uint64_t last,
                                         LeaseTimes times) {
  const auto epoch = last + 1;  // and no other: somebody may have come since
  const int descriptor = create_claim(run, epoch, kHeld);
  if (descriptor < 0) return nullptr;
  if (last_epoch(run) != epoch) {  // the name was free because it is long past
    ::close(descriptor);
    ::unlink(claim_file(run, epoch).c_str());
    return nullptr;
  }
  std::unique_ptr<Lease> lease(new Lease(run, epoch, descriptor, times));
  remove_claims_before(run, epoch);
  remove_temporaries(run);
  return lease;
}

Lease::Lease(const RunDirectory& run, std::uint64_t epoch, int descriptor, LeaseTimes times)
    : run_(run), epoch_(epoch), descriptor_(descriptor), times_(times) {
  const SignalsHeld held;  // they are for the thread that works
  thread_ = std::thread([this] { keep_alive(); });
}

Lease::~Lease() {
  stop_beating();
  try {
    if (set_free(run_, epoch_)) remove_claims_before(run_, epoch_ + 1);
  } catch (const std::exception&) {  // the folder is gone or full; our end will be noticed
  }
  ::close(descriptor_);
}

void Lease::stop_beating() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Lease::keep_alive() {
  std::unique_lock lock(mutex_);
  for (std::uint64_t beat = 1; !wake_.wait_for(lock, times_.beat, [&] { return stopping_; });
       ++beat) {
    const auto text = beat_text(beat);
    // A beat that fails is one that others do not hear; nothing else follows from it.
    struct stat info {};
    if (::fstat(descriptor_, &info) == 0 &&
        ::pwrite(descriptor_, text.data(), text.size(),
                 info.st_size - static_cast<off_t>(text.size())) > 0) {
      ::fsync(descriptor_);  // so that other machines see it, too
    }
  }
}

bool Lease::held() const {
  struct stat info {};
  return ::fstat(descriptor_, &info) == 0 && info.st_nlink > 0 &&
         !fs::exists(claim_file(run_, epoch_ + 1));
}

void Lease::require_held() const {
  if (held()) return;
  throw LeaseLost(concat("another process has taken over ", run_.path.string(), " after epoch ",
                         epoch_, "; this one stops"));
}

void Lease::publish_result(std::string_view text) {
  require_held();
  const int sealed = create_claim(run_, epoch_ + 1, kSealed);
  if (sealed < 0) require_held();
  {
    const std::lock_guard lock(mutex_);  // a beat may be on its way to the old one
    ::close(std::exchange(descriptor_, sealed));
  }
  ++epoch_;
  if (!write_file_once(run_.result(), text)) {
    throw LeaseLost(concat(run_.result().string(), " was written by another process"));
  }
}

void remove_leftovers(const RunDirectory& run) {
  if (!looks_taken(run)) remove_temporaries(run);
}

}  // namespace difflab
