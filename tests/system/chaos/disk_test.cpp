// Sweeps whose files and folders fail them: too small, full, deleted, read-only. The oracle and the
// doses are those of chaos_test.cpp.
#include <sys/mount.h>
#include <unistd.h>

#include <optional>

#include "system/chaos/field.h"

namespace difflab {
namespace {

using namespace testing::chaos;
using testing::eventually;

CATCH_TEST_CASE("files that may not grow: the runs say so, and go on when they may") {
  for (const int bytes : {0, 1, 100, 1'000}) {
    const Field field;
    auto argv = field.command();
    argv.insert(argv.begin(),
                {"/usr/bin/prlimit", concat("--fsize=", bytes), DIFFLAB_BUILD "/difflab"});
    Process driver(argv);
    CATCH_INFO(bytes << " bytes");
    calm_end(driver, {1, 2});
    check_the_end(field);
  }
}

CATCH_TEST_CASE("a results folder that is deleted in mid-sweep") {
  for (int i = 0; i < dose(2, 20); ++i) {
    const Field field;
    auto driver = field.go();
    sleep_ms(200 + random_up_to(600));
    std::error_code ignored;
    for (int again = 0; again < 3; ++again) fs::remove_all(field.where, ignored);
    calm_end(*driver, {0, 1, 2});
    field.workers.forget();
    check_the_end(field);
  }
}

// A filesystem of a given size; needs the right to mount.
class SmallDisk {
 public:
  explicit SmallDisk(int kilobytes) : mounted_(mount(kilobytes, 0)) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  bool grow(int kilobytes) const { return mount(kilobytes, MS_REMOUNT); }
  fs::path path() const { return folder_.path() / "results"; }

 private:
  bool mount(int kilobytes, unsigned long flags) const {
    return ::mount("none", folder_.path().c_str(), "tmpfs", flags,
                   concat("size=", kilobytes, "k").c_str()) == 0;
  }
  testing::TemporaryFolder folder_;
  bool mounted_;
};

void say_skipped(const char* what) {
  std::cerr << "SKIPPED: " << what << ": no right to mount or remount a small disk" << std::endl;
}

CATCH_TEST_CASE("a disk that is full: the runs say so, and go on when there is space") {
  const int sizes = dose(3, 50);
  for (int i = 0; i < sizes; ++i) {
    const int kilobytes = 16 + (i * 1'000) / sizes;
    const SmallDisk disk(kilobytes);
    if (!disk.mounted()) return say_skipped("a full disk");
    const Field field(disk.path());
    const auto driver = field.go();
    CATCH_INFO(kilobytes << " KiB");
    calm_end(*driver, {0, 1, 2});
    if (!disk.grow(100'000)) return say_skipped("a full disk");
    check_the_end(field);
  }
  std::cout << "disk full at " << sizes << " sizes" << std::endl;
}

// A read-only mount would do, but the kernel makes none while runs have their logs open.
void set_writable(const fs::path& folder, bool writable) {
  const auto change = [writable](const fs::path& path) {
    std::error_code gone;
    fs::permissions(path, fs::perms::owner_write,
                    writable ? fs::perm_options::add : fs::perm_options::remove, gone);
  };
  if (fs::exists(folder)) change(folder);  // first, so that nothing new appears below
  std::error_code gone;
  for (fs::recursive_directory_iterator entry(folder, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    if (entry->is_directory(gone)) change(entry->path());
  }
}

// For root nothing is read-only: the driver gets another user, who owns the folder. Empty if that
// user cannot reach the programs.
std::optional<std::vector<std::string>> without_rights(const fs::path& folder) {
  if (::geteuid() != 0) return std::vector<std::string>{};
  constexpr uid_t kNobody = 65534;
  fs::permissions(folder, fs::perms::owner_all | fs::perms::group_all | fs::perms::others_read |
                              fs::perms::others_exec);
  bool owned = ::chown(folder.c_str(), kNobody, kNobody) == 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    owned = owned && ::lchown(entry.path().c_str(), kNobody, kNobody) == 0;
  }
  const std::vector<std::string> words = {"/usr/bin/setpriv", concat("--reuid=", kNobody),
                                          concat("--regid=", kNobody), "--clear-groups"};
  auto probe = words;
  // A checkout in a private folder, as root's home is one: some systems run a program there and
  // then refuse it its own files.
  probe.insert(probe.end(), {"/usr/bin/test", "-r", DIFFLAB_BUILD "/difflab"});
  if (!owned || !fs::exists(words[0]) || !run_program(probe).status.success()) return std::nullopt;
  return words;
}

CATCH_TEST_CASE("folders that become read-only in mid-sweep: the runs say so, and go on later") {
  const int times = dose(1, 20);
  for (int i = 0; i < times; ++i) {
    const Field field;
    const auto before = without_rights(field.workers.folder());
    if (!before) {
      std::cerr << "SKIPPED: read-only folders: no user without rights can run the programs"
                << std::endl;
      return;
    }
    auto argv = field.command();
    argv.insert(argv.begin(), DIFFLAB_BUILD "/difflab");
    argv.insert(argv.begin(), before->begin(), before->end());
    Process driver(argv);
    CATCH_REQUIRE(eventually([&] { return !field.workers.starts().empty(); }));
    sleep_ms(random_up_to(600));
    set_writable(field.where, false);
    calm_end(driver, {0, 1, 2});
    set_writable(field.where, true);
    check_the_end(field);
  }
  std::cout << "folders read-only " << times << " times" << std::endl;
}

}  // namespace
}  // namespace difflab
