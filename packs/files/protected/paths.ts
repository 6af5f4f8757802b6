/**
 * Returns why a path is protected: files that run, or instruct the model, without an approval. A write to them extends
 * what was approved, so a person sees each one. Decided by the names on the real path, whatever link led to it.
 */
export function whyProtected(path: string): string | undefined {
  const names = path.split("/").map(folded)
  for (const [why, list] of Object.entries(PROTECTED)) if (names.some((name) => list.has(name))) return why
  return undefined
}

/** Normalizes a name, because file systems that fold case or Unicode forms treat other spellings as the same file. */
const folded = (name: string) =>
  name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/(?<![. ])[. ]+$/, "")

/** The reason for files that are protected only outside of build output, which contains many files with these names. */
export const BUILDS = "what builds and installations run"

const PROTECTED = {
  "the repository's own data and hooks": new Set([
    ...[".git", ".gitmodules", ".gitattributes", ".gitconfig", ".githooks", ".husky", ".hg", ".svn", ".jj"],
    ...[".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml"],
  ]),
  "settings of agents and editors": new Set([
    ...[
      ".pawl",
      "agents.md",
      "agents.override.md",
      "claude.md",
      "gemini.md",
      ".claude",
      ".codex",
      ".cursor",
      ".gemini",
    ],
    ...[".cursorrules", ".windsurfrules", ".clinerules", ".aider.conf.yml", ".mcp.json", ".opencode", "opencode.json"],
    ...[".vscode", ".idea", ".zed", ".devcontainer"],
  ]),
  "what shells and logins run": new Set([
    ...[".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".inputrc", ".envrc"],
    ...[
      ".zshrc",
      ".zshenv",
      ".zprofile",
      ".zlogin",
      ".zlogout",
      ".kshrc",
      ".cshrc",
      ".tcshrc",
      ".login",
      "config.fish",
    ],
    ...[".ssh", ".pam_environment", ".xprofile", ".xinitrc", ".direnv"],
  ]),
  "what continuous integration runs": new Set([
    ...[".github", ".gitlab-ci.yml", ".gitlab", ".circleci", ".travis.yml", "jenkinsfile", "azure-pipelines.yml"],
    ...[".drone.yml", "bitbucket-pipelines.yml", ".buildkite", ".woodpecker", ".woodpecker.yml", "appveyor.yml"],
    ...[".forgejo", ".gitea", ".cirrus.yml", "cloudbuild.yaml", ".teamcity"],
  ]),
  [BUILDS]: new Set([
    ...["package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pnpm-workspace.yaml", "bunfig.toml"],
    ...["makefile", "gnumakefile", "justfile", ".justfile", "taskfile.yml", "taskfile.yaml", "rakefile", "gemfile"],
    ...["gulpfile.js", "gruntfile.js", ".lintstagedrc", ".lintstagedrc.json", "procfile", "vagrantfile"],
    ...["pyproject.toml", "setup.py", "setup.cfg", "conftest.py", "tox.ini", "pytest.ini", "noxfile.py"],
    ...["sitecustomize.py", "usercustomize.py", "pip.conf", "cargo.toml", "build.rs", ".cargo"],
    ...["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradlew", "gradlew.bat"],
    ...["pom.xml", "mvnw", "mvnw.cmd", ".mvn", "build.sbt", "cmakelists.txt", "meson.build", "configure"],
    ...["dockerfile", "containerfile", "docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"],
    ...[
      "flake.nix",
      "shell.nix",
      "default.nix",
      "composer.json",
      "mix.exs",
      ".tool-versions",
      "mise.toml",
      ".mise.toml",
    ],
  ]),
} as const
