// A plugin of clang-tidy: the checks walk over what is declared outside system headers, and over nothing else. The
// headers of the C++ library and of others are most of a source, and nothing that is found there is shown.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

namespace {

class Narrow : public clang::ASTConsumer {
 public:
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* d : group) {
      const clang::SourceManager& sources = d->getASTContext().getSourceManager();
      if (!sources.isInSystemHeader(sources.getExpansionLoc(d->getLocation()))) ours_.push_back(d);
    }
    return true;
  }
  void HandleTranslationUnit(clang::ASTContext& context) override { context.setTraversalScope(ours_); }

 private:
  std::vector<clang::Decl*> ours_;
};

class Action : public clang::PluginASTAction {
 public:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Narrow>();
  }
  bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<Action> kAction("tidy-scope", "walk over our own declarations");

}  // namespace
