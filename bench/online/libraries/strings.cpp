// Strings and streams, whose code is in libstdc++: many calls with little memory behind them.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

static std::size_t work(int rounds) {
  std::map<std::string, std::size_t> words;
  for (int i = 0; i < rounds; ++i) {
    std::ostringstream out;
    out << "word " << i % 100 << ' ' << i * 0.5;
    std::string text = out.str();
    text.append(" and more of it, so that it has to be on the heap").insert(0, "a ");
    words[text.substr(0, 12)] += text.find("more");
  }
  std::size_t sum = 0;
  for (const auto& [word, count] : words) sum += word.size() + count;
  return sum;
}

int main(int, char** arguments) {
  const int threads = atoi(arguments[1]), rounds = atoi(arguments[2]);
  std::vector<std::size_t> sums(static_cast<std::size_t>(threads));
  std::vector<std::thread> running;
  for (std::size_t& sum : sums) running.emplace_back([&sum, rounds] { sum = work(rounds); });
  for (std::thread& t : running) t.join();
  std::size_t sum = 0;
  for (const std::size_t s : sums) sum += s;
  std::printf("%zu\n", sum);
}
