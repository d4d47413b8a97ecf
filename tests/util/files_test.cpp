#include "util/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "support/catch.h"
#include "util/hash.h"
#include "util/process.h"
#include "util/random.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("an atomic write replaces the file and leaves nothing else behind") {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "a.txt";
  write_file_atomically(path, "one");
  write_file_atomically(path, std::string("t\0o", 3));
  CATCH_CHECK(read_file(path) == std::string("t\0o", 3));
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  CATCH_CHECK(files == 1);
}

CATCH_TEST_CASE("a write in place makes, overwrites and shortens one and the same file") {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "a.txt";
  write_file_in_place(path, "one");
  const auto same = folder.path() / "same.txt";
  fs::create_hard_link(path, same);
  write_file_in_place(path, "something longer");
  CATCH_CHECK(read_file(same) == "something longer");
  write_file_in_place(path, "x");
  CATCH_CHECK(read_file(same) == "x");
  fs::create_symlink(path, folder.path() / "link.txt");
  CATCH_CHECK_THROWS_WITH(write_file_in_place(folder.path() / "link.txt", "y"),
                          Contains("link.txt"));
  CATCH_CHECK_THROWS_WITH(write_file_in_place(folder.path(), "y"), Contains("Is a directory"));
  CATCH_CHECK(read_file(path) == "x");
}

CATCH_TEST_CASE("a write that cannot be done names the path and the reason") {
  const testing::TemporaryFolder folder;
  CATCH_CHECK_THROWS_WITH(write_file_atomically(folder.path() / "no/such/folder.txt", "x"),
                          Contains("folder.txt") && Contains("No such file"));
  CATCH_CHECK_THROWS_WITH(read_file(folder.path()), Contains("Is a directory"));
  CATCH_CHECK_THROWS_AS(read_file(folder.path() / "missing"), UserError);
  // It can be opened, and its first byte belongs to nobody.
  CATCH_CHECK_THROWS_WITH(read_file("/proc/self/mem"), Contains("Input/output error"));
}

CATCH_TEST_CASE("what could go on for ever is no file") {
  const testing::TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe", link = folder.path() / "link";
  CATCH_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  fs::create_symlink(pipe, link);
  for (const fs::path& path : {pipe, link}) {
    CATCH_CHECK_THROWS_WITH(
        read_file(path), path.string().insert(0, "cannot read ") + ": is a pipe; expected a file");
  }
  for (const char* path : {"/dev/zero", "/dev/null", "/dev/tty0"}) {
    if (!fs::exists(path)) continue;
    CATCH_CHECK_THROWS_WITH(read_file(path), Catch::StartsWith(concat("cannot read ", path)));
  }
}

CATCH_TEST_CASE("of a file as much is read as is asked for") {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "f";
  write_file_atomically(path, "abcdef");
  for (const std::size_t most : {0, 1, 5, 6, 7}) {
    CATCH_CHECK(read_file(path, most) == std::string("abcdef").substr(0, most));
  }
}

CATCH_TEST_CASE("a pointer of Git LFS and a web page are known by how they begin") {
  for (const char* text : {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n",
                           "<!DOCTYPE html>\n<title>404</title>", "\n  <html lang=en>",
                           "\xef\xbb\xbf<!doctype HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">",
                           "<?xml version=\"1.0\"?>\n<!DOCTYPE html PUBLIC \"x\">"}) {
    CATCH_INFO(text);
    CATCH_CHECK_FALSE(stand_in(text, "corpus.txt").empty());
    CATCH_CHECK(stand_in(text, "page.html").empty() == (text[0] != 'v'));
  }
  for (const char* text : {"", " \n", "<mediawiki>", "version 1", "a page begins with <html>",
                           "<p>some text</p>", "\x10\0\0\0\0\0\0\0{}"}) {
    CATCH_INFO(text);
    CATCH_CHECK(stand_in(text, "corpus.txt").empty());
  }
}

CATCH_TEST_CASE("SHA-256 gives the published digests") {
  // FIPS 180-2, appendix B.1, and the empty message
  CATCH_CHECK(sha256_hex("abc") ==
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CATCH_CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

CATCH_TEST_CASE("a stream is named by its numbers") {
  Random a{1, 2, 3}, again{1, 2, 3}, other{1, 2, 4}, shorter{1, 2};
  const auto first = a.next();
  CATCH_CHECK(first == again.next());
  CATCH_CHECK(first != other.next());
  CATCH_CHECK(first != shorter.next());
}

CATCH_TEST_CASE("normal draws have the moments of a normal distribution") {
  Random random{7};
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0, fourths = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  // within 5 standard errors: 1/√n, √2/√n, √96/√n
  CATCH_CHECK(std::abs(sum / kDraws) < 5 * 0.00224);
  CATCH_CHECK(std::abs(squares / kDraws - 1) < 5 * 0.00316);
  CATCH_CHECK(std::abs(fourths / kDraws - 3) < 5 * 0.0219);
}

CATCH_TEST_CASE("distinct draws are distinct, in range, and use the whole range") {
  Random random{9};
  std::set<std::int64_t> seen;
  for (int i = 0; i < 200; ++i) {
    const auto draws = random.distinct(4, 10);
    CATCH_CHECK(std::set(draws.begin(), draws.end()).size() == 4);
    seen.insert(draws.begin(), draws.end());
  }
  CATCH_CHECK(seen.size() == 10);
  CATCH_CHECK(*seen.begin() == 0);
  CATCH_CHECK(random.distinct(0, 0).empty());
}

CATCH_TEST_CASE("a file that is written once is never replaced, and leaves no temporary") {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "result.json";
  CATCH_CHECK(write_file_once(path, "first"));
  CATCH_CHECK_FALSE(write_file_once(path, "second"));
  CATCH_CHECK(read_file(path) == "first");
  CATCH_CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

CATCH_TEST_CASE(
    "a file that gets a second name keeps one content, and takes no name from another") {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "a", second = folder.path() / "b";
  write_file_atomically(path, "mine");
  share_file(path, second);
  CATCH_CHECK(fs::equivalent(path, second));
  write_file_atomically(path, "new");  // a new file under the old name
  CATCH_CHECK(read_file(second) == "mine");
  share_file(path, second);
  CATCH_CHECK(read_file(second) == "mine");
  CATCH_CHECK_THROWS_AS(share_file(folder.path() / "missing", folder.path() / "c"), UserError);
}

CATCH_TEST_CASE("temporaries are removed when their writer is gone, and nothing else is") {
  const testing::TemporaryFolder folder;
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  const auto dead = concat(".table.md.", process_space(), ".", gone, ".0.tmp"),
             live = concat(".a.", process_space(), ".", ::getpid(), ".1.tmp"),
             elsewhere = concat(".a.00000000.", gone, ".1.tmp");  // of another machine
  for (const auto& name :
       {dead, live, elsewhere, std::string(".b.tmp"), std::string("c.1.2.tmp")}) {
    write_file_atomically(folder.path() / name, "x");
  }
  remove_abandoned_temporaries(folder.path());
  CATCH_CHECK_FALSE(fs::exists(folder.path() / dead));
  CATCH_CHECK(fs::exists(folder.path() / live));
  CATCH_CHECK(fs::exists(folder.path() / elsewhere));
  CATCH_CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 4);
}

CATCH_TEST_CASE("new files get the mode that the umask leaves, for a group if it lets them") {
  const testing::TemporaryFolder folder;
  for (const auto& [mask, mode] :
       {std::pair(0002, 0664), std::pair(0022, 0644), std::pair(0077, 0600)}) {
    const mode_t before = ::umask(static_cast<mode_t>(mask));
    const auto file = folder.path() / std::to_string(mask);
    write_file_atomically(file, "1");
    write_file_in_place(file.string() + "b", "1");
    write_file_once(file.string() + "c", "1");
    ::umask(before);
    for (const char* name : {"", "b", "c"}) {
      struct stat info {};
      CATCH_REQUIRE(::stat((file.string() + name).c_str(), &info) == 0);
      CATCH_CHECK(static_cast<int>(info.st_mode & 0777U) == mode);
    }
  }
}

CATCH_TEST_CASE(
    "a file that a user names is replaced if it is regular, else written to or refused") {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "file", link = folder.path() / "link",
             fifo = folder.path() / "fifo", nothing = folder.path() / "nothing";
  write_named_file(file, "new");
  fs::create_symlink(file, link);
  write_named_file(link, "through the link");
  CATCH_CHECK(fs::is_symlink(link));
  CATCH_CHECK(read_file(file) == "through the link");
  fs::create_symlink(folder.path() / "gone", nothing);
  CATCH_CHECK_THROWS_AS(write_named_file(nothing, "x"), UserError);
  CATCH_CHECK_THROWS_AS(write_named_file(folder.path(), "x"), UserError);
  write_named_file("/dev/null", "x");
  CATCH_CHECK(fs::is_character_file("/dev/null"));
  CATCH_CHECK_THROWS_AS(write_named_file("/dev/full", "x"), UserError);
  CATCH_REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  write_named_file(fifo, "bytes");
  std::array<char, 8> buffer{};
  CATCH_CHECK(::read(reader, buffer.data(), buffer.size()) == 5);
  ::close(reader);
  CATCH_CHECK(fs::is_fifo(fifo));
  CATCH_CHECK_THROWS_AS(read_file(fifo), UserError);  // and does not wait for a writer
}

}  // namespace
}  // namespace difflab
