#include <regex>

#include "cli/driver.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

CATCH_TEST_CASE("without arguments the commands that matter are shown, not all") {
  const Driver driver;
  const Answer answer = driver.call({}, 0);
  CATCH_CHECK_THAT(answer.out,
                   Contains("./difflab sweep NAME") && Contains("./difflab needle RUN"));
  CATCH_CHECK(std::count(answer.out.begin(), answer.out.end(), '\n') < 12);
}

CATCH_TEST_CASE("--help names every command and shows examples") {
  const Driver driver;
  const Answer answer = driver.call({"--help"}, 0);
  for (const std::string word :
       {"sweep", "plot", "config", "compare", "list", "completion", "params", "flops", "verify",
        "export", "generate", "show", "data", "referee", "preset=smoke", "--dry-run", "Exit codes",
        "--version"}) {
    CATCH_CHECK_THAT(answer.out, Contains(word));
  }
  CATCH_CHECK_THAT(driver.call({"--version"}).out, Contains("difflab " DIFFLAB_VERSION));
}

CATCH_TEST_CASE("each command has two examples of its own, with options that it has") {
  const Driver driver;
  const auto listed = driver.call({"--help"}, 0).out;
  static const std::regex kCommand("\n  ([a-z]+)[ ,].*"), kOption("(--[a-z-]+)");
  const auto commands = listed.substr(listed.find("Subcommands:"));
  int found = 0;
  std::sregex_iterator none;
  for (std::sregex_iterator line(commands.begin(), commands.end(), kCommand); line != none;
       ++line) {
    const std::string command = (*line)[1];
    const auto help = driver.call({command, "--help"}, 0).out;
    const auto begin = help.find("\nExamples\n");
    CATCH_INFO(help);
    CATCH_REQUIRE(begin != help.npos);
    const auto options = help.substr(0, begin);
    const auto examples = help.substr(begin, help.find("Exit codes") - begin);
    CATCH_CHECK(std::count(examples.begin(), examples.end(), '\n') >= 5);  // two, and three others
    for (std::sregex_iterator option(examples.begin(), examples.end(), kOption); option != none;
         ++option) {
      CATCH_CHECK_THAT(options, Contains(option->str()));
    }
    ++found;
  }
  CATCH_CHECK(found > 25);
}

CATCH_TEST_CASE("a command line that makes no sense gives 2") {
  const Driver driver;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"sweeep"},
                                                    {"sweep"},
                                                    {"sweep", "tiny", "--dry"},
                                                    {"sweep", "tiny", "--json", "--freeze"},
                                                    {"list", "nothing"},
                                                    {"config", "tiny", "--run", "99"}}) {
    CATCH_CHECK(driver.call(arguments).code == 2);
  }
  CATCH_CHECK_FALSE(fs::exists(driver.results()));
  CATCH_CHECK(driver.call({"sweeep", "tiny"}).err ==
              "error: there is no command sweeep; did you mean sweep?\n");
}

CATCH_TEST_CASE("plot draws from what is finished and names what is not") {
  const Driver driver;
  Answer answer = driver.call({"plot", "tiny"}, 2);
  CATCH_CHECK_THAT(answer.err, Contains("none of the 6 runs of tiny"));
  CATCH_CHECK_FALSE(fs::exists(driver.results()));

  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto tables = driver.tables();
  fs::remove_all(driver.output());
  answer = driver.call({"plot", "tiny"}, 0);
  CATCH_CHECK(driver.tables() == tables);
  answer = driver.call({"plot", "tiny", "preset=more"}, 0);
  CATCH_CHECK_THAT(answer.out,
                   Contains("2 of 8 runs are not finished") && Contains("model=diff seed=3 (new)"));
  CATCH_CHECK(driver.workers.starts().size() == 6);
}

CATCH_TEST_CASE("params and flops take an experiment or bare dimensions") {
  const Driver driver;
  const Answer chat =
      driver.call({"flops", "--d-model", "4096", "--ffn", "13696", "--heads", "32", "--kv-heads",
                   "2", "--layers", "28", "--vocab", "65024", "--tokens", "8192"});
  CATCH_CHECK(chat.code == 0);
  CATCH_CHECK_THAT(chat.out, Contains("  128,714,721,460,224"));
  Answer answer = driver.call(
      {"params", "tiny", "model=nano_gpt,diff_nano_gpt,diff_symmetry", "--vocab", "65", "--json"},
      0);
  const Json counts = Json::parse(answer.out);
  CATCH_REQUIRE(counts.size() == 3);
  CATCH_CHECK(counts[0]["model"] == "nano_gpt");
  CATCH_CHECK(counts[0]["parameters"]["total"] == 2'479'937);
  CATCH_CHECK(counts[1]["parameters"]["total"] == 2'480'225);
  CATCH_CHECK(counts[2]["parameters"]["total"] == 2'282'849);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"params"},
        {"params", "tiny", "--d-model", "64"},
        {"params", "--d-model", "64"},
        {"flops", "--d-model", "30", "--heads", "4", "--vocab", "9"},
        {"params", "tiny", "--layers", "3"},
        {"params", "tiny", "model.attention.heads=4611686018427387904"},
        {"flops", "tiny", "--bytes", "3"}}) {
    CATCH_CHECK(driver.call(wrong).code == 2);
  }
}

CATCH_TEST_CASE("models of a text are counted without the text") {
  const Driver driver;
  const std::vector<std::string> nano{"params", "tiny", "model=nano_gpt", "task=tinyshakespeare"};
  const auto with = [&](std::vector<std::string> more, std::optional<int> code = {}) {
    more.insert(more.begin(), nano.begin(), nano.end());
    return driver.call(more, code);
  };
  const Answer published = with({});
  CATCH_INFO(published.err);
  CATCH_CHECK_THAT(published.out,
                   Contains("2,479,937  9.92\n") && Contains("10^6 bytes") &&  // 4 · 2.479937
                       Contains("what is known of tinyshakespeare"));
  const Json counts = Json::parse(with({"--json"}).out);
  CATCH_REQUIRE(counts.size() == 1);  // three seeds
  CATCH_CHECK(counts[0]["vocabulary"] == 65);
  CATCH_CHECK(counts[0]["megabytes"].get<double>() == Approx(9.919748));
  CATCH_CHECK_THAT(with({"task.tokenizer=byte"}).out, !Contains("what is known"));
  CATCH_CHECK(Json::parse(with({"task.tokenizer=byte", "--json"}).out)[0]["vocabulary"] == 256);

  const auto elsewhere = "task.file.path=" + (driver.project() / "mine.txt").string();
  CATCH_CHECK_THAT(with({elsewhere}, 2).err,
                   Contains("mine.txt does not exist") && Contains("--vocab N"));
  CATCH_CHECK(Json::parse(with({elsewhere, "--vocab", "70", "--json"}).out)[0]["vocabulary"] == 70);
  driver.write("mine.txt", "To be or not to be");
  CATCH_CHECK(Json::parse(with({elsewhere, "--json"}).out)[0]["vocabulary"] == 8);  // " Tobernt"
  driver.write("data/tinyshakespeare.txt", "abc");  // what is there counts
  CATCH_CHECK(Json::parse(with({"--json"}).out)[0]["vocabulary"] == 3);
  // Of a text that is not there, words are not known, nor the letters of the text's own needles.
  with({"task.file.path=/nowhere/tinyshakespeare.txt", "task.tokenizer=word"}, 2);
  CATCH_CHECK(driver.call({"params", "tiny", "model.heads=4"}).code == 2);
  CATCH_CHECK(driver.call({"params", "tiny", "title=[1]"}).code == 2);
}

CATCH_TEST_CASE("flops lists each product of matrices with its shape") {
  const Driver driver;
  const std::vector<std::string> call{"flops",     "tiny", "model=diff", "model.d_model=64",
                                      "--vocab",   "10",   "--tokens",   "8",
                                      "--products"};
  const Answer text = driver.call(call);
  CATCH_INFO(text.err);
  CATCH_CHECK_THAT(text.out, Contains("diff, 8 tokens") && Contains("each of the layers 0 to 1"));
  auto as_json = call;
  as_json.push_back("--json");
  const Json model = Json::parse(driver.call(as_json).out)[0];
  std::map<std::string, Json> products;
  std::int64_t full = 0, causal = 0;
  for (const auto& product : model.at("products")) {
    products[product.at("name")] = product;
    const auto layers = product.at("layers").is_null()
                            ? 1
                            : product["layers"][1].get<int>() - product["layers"][0].get<int>() + 1;
    full += layers * product["full"]["sequence"].get<std::int64_t>();
    causal += layers * product["causal"]["sequence"].get<std::int64_t>();
    CATCH_CHECK(product["full"]["token"].get<std::int64_t>() * 8 == product["full"]["sequence"]);
    CATCH_CHECK(product["causal"]["token"].get<std::int64_t>() * 8 ==
                product["causal"]["sequence"]);
  }
  CATCH_CHECK(full == model["full"]["forward"]);
  CATCH_CHECK(causal == model["causal"]["forward"]);
  const auto is = [&](const char* name, int times, int m, int k, int n) {
    CATCH_INFO(name << ": " << products[name].dump());
    CATCH_CHECK(products[name]["times"] == times);
    CATCH_CHECK(Json::array({m, k, n}) ==
                Json::array({products[name]["m"], products[name]["k"], products[name]["n"]}));
    CATCH_CHECK(products[name]["full"]["sequence"] == 2 * times * m * k * n);
  };
  is("q_proj", 1, 8, 64, 64);  // 2 pairs of maps of width 16, values of width 32
  is("QK^T", 4, 8, 16, 8);
  is("AV", 2, 8, 8, 32);
  is("output", 1, 8, 64, 10);
  // 8·9/2 of 64 pairs
  CATCH_CHECK(products["AV"]["causal"]["sequence"] == 2 * 2 * 36 * 32);
  CATCH_CHECK(Json::parse(driver.call({"flops", "tiny", "--json"}).out)[0].count("products") == 0);
}

CATCH_TEST_CASE("params --groups says of each parameter how it is updated") {
  const Driver driver;
  const Answer answer =
      driver.call({"params", "tiny", "--groups", "decay=matrices", "train.optimizer=muon",
                   "+train.groups=[{match: '*.lambda_*', lr_scale: 0.1}, {match: '*', shapes: "
                   "vectors, weight_decay: 0}]",
                   "model=diff", "--json"});
  CATCH_INFO(answer.err);
  CATCH_REQUIRE(answer.code == 0);
  const Json models = Json::parse(answer.out);
  CATCH_REQUIRE(models.size() == 1);  // three seeds are trained alike
  std::map<std::string, Json> found;
  for (const auto& parameter : models[0].at("parameters")) {
    found[parameter.at("name")] = parameter;
  }
  const auto is = [&](const char* name, const char* optimizer, double lr_scale, double decay) {
    CATCH_INFO(name << ": " << found[name].dump());
    CATCH_CHECK(found[name] == Json({{"name", name},
                                     {"optimizer", optimizer},
                                     {"lr_scale", lr_scale},
                                     {"weight_decay", decay}}));
  };
  is("tok_embeddings.weight", "adamw", 1, 0.1);
  is("layers.1.attn.q_proj.weight", "muon", 1, 0.1);
  is("layers.0.attn.lambda_q1", "adamw", 0.1, 0);
  is("layers.0.attn_norm.weight", "adamw", 1, 0);
  const Answer table = driver.call({"params", "tiny", "--groups", "decay=matrices"});
  CATCH_CHECK_THAT(table.out, Contains("tok_embeddings.weight") && Contains("V x 64") &&
                                  Contains("adamw") && Contains("x 1"));
  CATCH_CHECK(driver.call({"params", "--groups"}).code == 2);
}

CATCH_TEST_CASE("every option for decay and initial values is a training that can be planned") {
  const Driver driver;
  std::set<std::string> plans;
  std::size_t options = 0;
  for (const std::string group : {"decay", "init"}) {
    for (const auto& file : fs::directory_iterator(driver.project() / "configs" / group)) {
      const auto choice = group + "=" + file.path().stem().string();
      const Answer answer = driver.call({"config", "tiny", "model=nano_gpt", choice}, 0);
      CATCH_INFO(choice << ":\n" << answer.err);
      plans.insert(answer.out);
      ++options;
    }
  }
  CATCH_CHECK(options >= 8);
  CATCH_CHECK(plans.size() == options - 1);  // two of them change nothing
}

CATCH_TEST_CASE("a run is named by its id, the beginning of it, or its folder") {
  const Driver driver;
  for (const std::string command : {"export", "generate"}) {
    std::vector<std::string> call{command, "abc"};
    if (command == "export") call.insert(call.end(), {"--to", "x.safetensors"});
    CATCH_CHECK_THAT(driver.call(call, 2).err, Contains("there is no run abc in"));
  }
  driver.write("results/runs/abc1/config.yaml", "");
  driver.write("results/runs/abc2/config.yaml", "");
  CATCH_CHECK_THAT(driver.call({"generate", "abc"}).err,
                   Contains("2 runs begin with 'abc': abc1, "));
  CATCH_CHECK_THAT(driver.call({"generate", "abc1", "--temperature", "-1"}).err,
                   Contains("temperature is -1"));
}

CATCH_TEST_CASE("the project is found from a folder inside it") {
  Driver driver;
  ::unsetenv("DIFFLAB_ROOT");
  const auto before = fs::current_path();
  fs::current_path(driver.project() / "configs" / "model");
  driver.call({"sweep", "tiny", "seed=0", "results=here"}, 0);
  fs::current_path(before);
  // A folder on the command line is meant from where the user is.
  CATCH_CHECK(fs::exists(driver.project() / "configs" / "model" / "here" / "runs"));
}

}  // namespace
}  // namespace difflab
