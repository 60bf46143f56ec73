// Different elements of one std::vector and const calls on a std::string and std::map: the standard says no race.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <map>
#include <string>
#include <vector>

std::vector<int> numbers(2);
const std::string name = "a name that is too long to be stored inside of the object";
const std::map<std::string, int> table = {{"one", 1}, {"two", 2}};

int main() {
  in_turn(
      [] {
        numbers[0] = static_cast<int>(name.size());
        use(table.find("one")->second);
      },
      [] {
        numbers[1] = static_cast<int>(name.find("object"));
        use(table.at("two"));
      });
}
