/** Text of `pawl` about itself and about wrong usage. */

const groups: readonly (readonly [title: string, commands: Readonly<Record<string, string>>])[] = [
  [
    "Work",
    {
      serve: "Start the server and its web page",
      chat: "Chat in this folder, in the terminal",
      exec: 'Run one request and print the answer: pawl exec "what does this project do"',
      doctor: "Check the setup and report problems",
    },
  ],
  [
    "Connect",
    {
      acp: "Run as an agent in an editor: Zed, JetBrains, Neovim",
      mcp: "Run as an MCP server, or manage the MCP servers that agents use",
      device: "Store a workspace on this machine and serve it to a server",
    },
  ],
  [
    "Access",
    {
      invite: "Create a sign-in link for a browser: pawl invite --user NAME",
      token: "Create an access token: pawl token create --user NAME",
      trust: "Trust the files of a folder, or list the trusted folders",
      skills: "Add and list skills: instructions and scripts for kinds of tasks",
    },
  ],
  [
    "Runs and tests",
    {
      show: "Show the steps, times and costs of a run",
      replay: "Rebuild the model requests of a run and compare them with the recorded ones",
      eval: "Run test cases against agents and models: pawl eval FILE",
      crashtest: "Kill a scenario at every write and check that it recovers",
    },
  ],
  [
    "Data",
    {
      ingest: "Add documents to a collection: pawl ingest PATH…",
      backup: "Copy the database while the server runs: pawl backup FILE",
      export: "Write people with all their data to a file: pawl export FILE",
      import: "Read a file of pawl export: pawl import FILE",
      migrate: "Update the database schema (serve does this by itself)",
      "rotate-keys": "Encrypt all stored secrets with a new master key",
    },
  ],
]

const listed = groups.map(([title, commands]) => {
  const lines = Object.entries(commands).map(([name, summary]) => `  ${name.padEnd(12)} ${summary}`)
  return [`${title}:`, ...lines].join("\n")
})

export const usageText = {
  help: `Usage: pawl <command> [options]

${listed.join("\n\n")}

Run "pawl <command> --help" for a command's options, "pawl help settings" for all settings, and "pawl --version" for the
version. All commands store their data in ~/.local/share/pawl ($XDG_DATA_HOME/pawl), or in the folder that PAWL_DATA names.
"pawl serve" shows the documentation at /docs: docs/guide/page.md is /docs/guide/page.html there.
`,
  error: (message: string) => `pawl: ${message}\n`,
  wrongUsage: (message: string, usage: string, command: string) =>
    `pawl: ${message}\n\n${usage}\nRun "pawl ${command} --help" for all options.\n`,
  unknownCommand: (name: string, nearest: string | undefined) =>
    `Unknown command "${name}".${meant(nearest)} Run "pawl help" for all commands.`,
  unknownOption: (option: string, nearest: string | undefined) => `Unknown option ${option}.${meant(nearest)}`,
  missingValue: (option: string) => `${option} needs a value.`,
  noValueAllowed: (option: string) => `${option} does not take a value.`,
  valueStartsWithDash: (option: string) =>
    `${option} needs a value. Write a value that starts with a dash as ${option}=-3.`,
  unexpectedArgument: (argument: string) => `Unexpected argument "${argument}".`,
  failed: (reason: string, path: string | undefined) =>
    path === undefined ? `It failed because ${reason}.` : `${path}: ${reason}.`,
  readingStdin: "Reading standard input until it ends. To skip it, add < /dev/null\n",
  stdinTooLarge: "The text on standard input is larger than 1 MB.",
  outputCut: (reason: string) => `The output is incomplete because ${reason}.`,
} as const

const meant = (nearest: string | undefined) => (nearest === undefined ? "" : ` Did you mean "${nearest}"?`)
