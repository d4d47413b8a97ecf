#include "text/generated_text.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <vector>

#include "util/random.h"
#include "util/text.h"

namespace difflab {
namespace {

/// Words of which the one at rank r (from 1) is drawn in proportion to 1/r (Zipf 1949).
class Words {
 public:
  Words(std::initializer_list<std::string_view> words) : words_(words) {
    double sum = 0;
    for (std::size_t rank = 1; rank <= words_.size(); ++rank) {
      sum += 1 / static_cast<double>(rank);
      cumulative_.push_back(sum);
    }
  }
  std::size_t draw_index(Random& random) const {
    const double at = random.uniform() * cumulative_.back();
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, at);
    return static_cast<std::size_t>(found - cumulative_.begin());
  }
  std::string_view draw(Random& random) const { return words_[draw_index(random)]; }
  std::string_view operator[](std::size_t i) const { return words_[i]; }

 private:
  std::vector<std::string_view> words_;
  std::vector<double> cumulative_;
};

// Women and men in turn, one for each capital letter.
const Words kNames = {"Ada",    "Boris", "Clara",  "Dmitri", "Edith", "Felix", "Greta",
                      "Hugo",   "Ines",  "Jonas",  "Karin",  "Leo",   "Maria", "Noah",
                      "Olga",   "Pavel", "Quilla", "Rolf",   "Sina",  "Tom",   "Uma",
                      "Viktor", "Wanda", "Xaver",  "Yara",   "Zeno"};
const Words kTownStarts = {"North", "Stone", "Green", "Mill", "Silver", "Ash",
                           "Red",   "Wolf",  "Salt",  "King", "Oak",    "Bell"};
const Words kTownEnds = {"bridge", "ford", "haven", "field", "ton", "burg", "wick", "mouth"};
// Nouns take an s in the plural, verbs in the third person.
const Words kNouns = {"book",    "lamp",   "horse",  "boat",   "apple",  "letter", "clock",
                      "table",   "garden", "coat",   "bird",   "stone",  "window", "bottle",
                      "picture", "chair",  "key",    "ladder", "mirror", "barrel", "kettle",
                      "ring",    "candle", "saddle", "map",    "goat",   "drum",   "wagon",
                      "basket",  "rope",   "hammer", "jug",    "flute",  "anchor", "axe",
                      "lantern", "quilt",  "violin", "zither", "whistle"};
const Words kVerbs = {"find",  "keep",  "want",  "sell",   "bring", "paint", "need",   "hide",
                      "count", "clean", "take",  "mend",   "like",  "lend",  "draw",   "move",
                      "lose",  "hold",  "steal", "admire", "burn",  "weigh", "borrow", "inspect"};
const Words kAdjectives = {"old",    "small",   "red",    "heavy",   "new",    "blue",
                           "broken", "green",   "quiet",  "bright",  "cold",   "dusty",
                           "wooden", "golden",  "narrow", "strange", "white",  "empty",
                           "lazy",   "crooked", "smooth", "hollow",  "velvet", "jagged"};
const Words kTimes = {"morning", "evening", "Monday", "winter",
                      "Sunday",  "night",   "spring", "Friday"};
const Words kManners = {"slowly",    "gladly",     "in secret", "together",
                        "with care", "every year", "at once",   "for nothing"};

// Words that a sentence draws anew: Object, Adjective, verb, time, manner.
const std::map<char, const Words*> kDrawn = {
    {'O', &kNouns}, {'A', &kAdjectives}, {'v', &kVerbs}, {'t', &kTimes}, {'m', &kManners}};

// Letters after % are those of kDrawn and of Paragraph.
constexpr std::string_view kOpening = "%H lives in %C and %vs %n %a %os.";
const std::vector<std::string_view> kSentences = {
    "%E %vs the %a %o every %t.",
    "%F %vs %x %Os, and %H %vs %y more, so they have %s.",
    "\"Where is the %a %o?\" asks %F. \"It is in %C,\" says %H.",
    "\"How many %a %os are there?\" asks %F. \"There are %n in %C,\" %e says.",
    "The %os are %a, but the %O is %A.",
    "%H and %F %v the %O %m.",
    "%E never %vs %i %o without %F.",
    "%F comes to %C every %t, for %e %vs the %A %O there.",
    "Do %H and %F %v the %a %o? They do, but %F %vs it %m.",
};

/// A paragraph's people and things, which its sentences share.
class Paragraph {
 public:
  explicit Paragraph(Random& random) : random_(random) {
    const auto hero = kNames.draw_index(random);
    auto other = kNames.draw_index(random);
    const auto end = kTownEnds.draw(random);  // the end first, as in all results so far
    own_['C'] = concat(kTownStarts.draw(random), end);
    own_['o'] = kNouns.draw(random);
    own_['a'] = kAdjectives.draw(random);
    own_['n'] = std::to_string(number());
    while (other == hero) other = kNames.draw_index(random);
    own_['H'] = kNames[hero];
    own_['F'] = kNames[other];
    const bool is_woman = hero % 2 == 0;
    own_['E'] = is_woman ? "She" : "He";
    own_['e'] = is_woman ? "she" : "he";
    own_['i'] = is_woman ? "her" : "his";
  }

  void write(std::string& text) {
    write(kOpening, text);
    for (auto more = 3 + random_.below(6); more > 0; --more) {
      text += ' ';
      const auto next = random_.below(static_cast<std::int64_t>(kSentences.size()));
      write(kSentences[static_cast<std::size_t>(next)], text);
    }
    text += "\n\n";
  }

 private:
  // From 2 to 99, so that every noun behind one is a plural; half of them below 10.
  std::int64_t number() { return 2 + random_.below(random_.below(2) == 0 ? 8 : 98); }

  void write(std::string_view sentence, std::string& text) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      if (sentence[i] == '%') {
        text += written(sentence[++i], sum);
      } else {
        text += sentence[i];
      }
    }
  }

  // Numbers x and y are drawn anew, and s is their sum.
  std::string written(char code, std::int64_t& sum) {
    if (const auto own = own_.find(code); own != own_.end()) return own->second;
    if (const auto words = kDrawn.find(code); words != kDrawn.end()) {
      return std::string(words->second->draw(random_));
    }
    if (code == 's') return std::to_string(sum);
    if (code != 'x' && code != 'y') {
      throw std::logic_error(concat("unknown code %", code, " in a sentence"));
    }
    const auto drawn = number();
    sum += drawn;
    return std::to_string(drawn);
  }

  Random& random_;
  // Capitals and small letters: Hero, Friend, Ctown, object, adjective, number, and the hero's
  // pronouns She, she and her, or His.
  std::map<char, std::string> own_;
};

}  // namespace

std::string generated_text(std::int64_t characters, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(characters);
  std::string text;
  text.reserve(size + 2'000);
  for (std::uint64_t paragraph = 0; text.size() < size; ++paragraph) {
    Random random{seed, stream_key("generated text"), paragraph};
    Paragraph(random).write(text);
  }
  text.resize(size);
  return text;
}

std::string_view generated_alphabet() {
  return "\n \",.0123456789?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
}

}  // namespace difflab
