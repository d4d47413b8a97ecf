#include "text/city_names.h"

#include <array>

namespace difflab {

std::span<const std::string_view> city_names() {
  static constexpr std::array kNames = std::to_array<std::string_view>({
      "Aachen",       "Aberdeen",  "Accra",      "Adelaide",   "Ankara",    "Antwerp",
      "Athens",       "Atlanta",   "Auckland",   "Baku",       "Bamako",    "Bangkok",
      "Basel",        "Beirut",    "Belfast",    "Belgrade",   "Bergen",    "Berlin",
      "Bilbao",       "Bogota",    "Bologna",    "Bordeaux",   "Boston",    "Bratislava",
      "Bremen",       "Brisbane",  "Bristol",    "Brussels",   "Bucharest", "Budapest",
      "Buenos Aires", "Cairo",     "Calgary",    "Cape Town",  "Caracas",   "Cardiff",
      "Casablanca",   "Chicago",   "Cologne",    "Copenhagen", "Cork",      "Dakar",
      "Dallas",       "Delhi",     "Denver",     "Detroit",    "Dhaka",     "Dresden",
      "Dublin",       "Durban",    "Edinburgh",  "Essen",      "Florence",  "Frankfurt",
      "Geneva",       "Genoa",     "Ghent",      "Glasgow",    "Granada",   "Graz",
      "Hamburg",      "Hanoi",     "Harare",     "Havana",     "Helsinki",  "Houston",
      "Innsbruck",    "Istanbul",  "Jakarta",    "Kampala",    "Karachi",   "Kathmandu",
      "Krakow",       "Kyoto",     "Lagos",      "Lahore",     "Leipzig",   "Lima",
      "Lisbon",       "Liverpool", "London",     "Luanda",     "Lusaka",    "Lyon",
      "Madrid",       "Malaga",    "Manchester", "Manila",     "Marseille", "Melbourne",
      "Mexico City",  "Miami",     "Milan",      "Minsk",      "Montreal",  "Mumbai",
      "Munich",       "Nairobi",   "Nantes",     "Naples",     "New York",  "Nice",
      "Osaka",        "Oslo",      "Ottawa",     "Palermo",    "Paris",     "Perth",
      "Porto",        "Prague",    "Quito",      "Riga",       "Rome",      "Rotterdam",
      "Salzburg",     "Santiago",  "Seattle",    "Seoul",      "Seville",   "Singapore",
      "Sofia",        "Stockholm", "Stuttgart",  "Sydney",     "Tallinn",   "Tbilisi",
      "Tokyo",        "Toronto",   "Tunis",      "Turin",      "Utrecht",   "Valencia",
      "Vancouver",    "Venice",    "Vienna",     "Vilnius",    "Warsaw",    "Wellington",
      "Winnipeg",     "Zagreb",    "Zurich",
  });
  return kNames;
}

}  // namespace difflab
