import { plural } from "./plural.ts"

/** `pawl mcp`: serving over MCP, and managing the MCP servers that agents use. */
export const mcpText = {
  help: `Usage: pawl mcp [serve] [--server URL] [--token TOKEN]
       pawl mcp list
       pawl mcp add NAME URL [--header "Name: value"]… [--agent NAME]… [--public]
       pawl mcp add NAME [--folder DIR] [--network] [--agent NAME]… -- COMMAND ARGUMENT…
       pawl mcp change NAME [--name NAME] [--url URL] [--header "Name: value"]… [--no-header Name]… [--agent NAME]…
                       [--public|--private]
       pawl mcp login NAME
       pawl mcp logout NAME
       pawl mcp tools NAME
       pawl mcp allow NAME TOOL [read|ask|off] [--again|--not-again]
       pawl mcp remove NAME

Without an action, or with serve, runs an MCP server on standard input and output, for programs that start their MCP servers
themselves. It offers agents, conversations, changes, notes, documents and databases as tools. Changes wait for your approval
in Pawl.

  --server URL    connect to a running server (default: run Pawl in this process, with the data in PAWL_DATA)
  --token TOKEN   a token from "pawl token create", for --server; PAWL_TOKEN is safer, because process lists do not show it

The other actions manage the MCP servers whose tools your agents can use (docs/recipes/use-mcp-servers.md):

  list     list the servers
  add      add a server, by its address or as a program of this machine
  change   change the address, headers, agents or visibility of a server
  login    sign in to a server that requires it; logout signs out
  tools    show the tools of a server, and what changed since you allowed them
  allow    allow a tool as it is now; --again: it may run again after a crash
  remove   remove a server

A COMMAND runs in the sandbox. It is started once to read its tools, then stored in mcp.json in the data folder. It can read
the current folder if its command names a file there, and change the folder of --folder; --network lets it use the network.
Without --server, allow, change (--name, --agent, --public, --private) and remove also edit that mcp.json. All actions accept
--server and --token; add and change accept --client-id, --client-secret and --scope for a server that requires a registered
client.

Exit codes: 0 done, or the program that started it closed its input, 1 wrong usage or settings.
`,
  unknownAction: (action: string, nearest: string | undefined) =>
    `Unknown action "${action}".${nearest === undefined ? "" : ` Did you mean "${nearest}"?`}`,
  badHeader: 'A header must be written as "Name: value".',
  badRule: (text: string, rules: string) => `"${text}" is not a rule. Rules: ${rules}.`,
  nothingToChange: "Name what to change: --name, --url, --header, --no-header, --agent, --public or --private.",
  missingNameAndUrl: "Name the server and its address.",
  missingName: 'Name the server. "pawl mcp list" lists them.',
  programOnServer: "A program can be added only on the machine of the server, without --server.",
  programOptions: "--folder and --network are only for programs: pawl mcp add NAME --network -- COMMAND",
  operatorServer: (name: string) =>
    `"${name}" is set up by the operator of the server and can be changed only there: with pawl mcp without --server, or in mcp.json.`,
  none: 'No MCP servers. To add one, run "pawl mcp add NAME URL".',
  server: (name: string, isOperators: boolean, address: string) =>
    `${name} (${isOperators ? "from the operator" : "yours"}, ${address}): `,
  tools: (tools: number, agents: string) => `${plural(tools, "tool")} for ${agents}`,
  signIn: {
    needed: "Sign in",
    ended: "Sign in again",
    more: "It needs more permissions; sign in again",
  },
  signInHow: (what: string, name: string) => `. ${what}: pawl mcp login ${name}`,
  runsAgain: "ask; repeated after a crash",
  heldBack: (state: string) => `${state}, not used until you allow it`,
  tool: (tool: string, rule: string, description: string) => `  ${tool} [${rule}] ${description}`,
  toolBefore: (description: string) => `    before: ${description}`,
  argumentsBefore: (schema: string) => `    arguments before: ${schema}`,
  argumentsNow: (schema: string) => `    arguments now: ${schema}`,
  addedNeedsSignIn: (name: string) =>
    `${name} was added and requires you to sign in. You can also do that later with "pawl mcp login ${name}".`,
  signedIn: "You are signed in.",
  alreadySignedIn: (name: string) => `You are signed in to ${name}. To sign out, run "pawl mcp logout ${name}".`,
  signedOut: (name: string) => `You are signed out of ${name}.`,
  removed: (name: string) => `${name} was removed.`,
  written: (file: string) => `Saved to ${file}. Restart running servers to use it.\n`,
  canRead: (folders: string) => `It can read ${folders}.\n`,
  notAdded: (name: string, reason: string, needsNetwork: boolean) =>
    `${name} was not added. ${reason}${needsNetwork ? " To let it use the network, add --network." : ""} ` +
    "To let it change a folder, add --folder DIR. Put other settings, such as keys, into mcp.json (docs/reference/mcp-servers.md).",
  editFile: (name: string, place: string) =>
    `This command changes only the name, --agent, --public and --private of "${name}". Edit the rest in ${place} (docs/reference/mcp-servers.md).`,
  badName: (name: string) =>
    `--name must be a lower-case letter, then up to 23 lower-case letters and digits, not "${name}".`,
  notRepeatable: (tool: string) => `--again: ${tool} does not declare that it can safely run twice.`,
  noTool: (tool: string, name: string) =>
    `There is no tool "${tool}" of "${name}". "pawl mcp tools ${name}" lists them.`,
  nameTaken: (file: string, name: string) => `${file} already has a server "${name}". Choose another name.`,
  addToFile: (file: string) => `PAWL_MCP names ${file}. Add the server to that file (docs/recipes/use-mcp-servers.md).`,
  editInFile: (name: string, place: string) =>
    `"${name}" is in the file that PAWL_MCP names. Edit it there: ${place} (docs/recipes/use-mcp-servers.md).`,
  line: (file: string, line: number) => `${file}, line ${line}`,

  openInSignedInBrowser: (url: string) =>
    `Open this address in a browser that is signed in to that Pawl server:\n\n  ${url}\n\nWaiting …`,
  openHere: (url: string) => `Open this address in a browser on this machine:\n\n  ${url}\n\nWaiting …`,
  unknownServer: (name: string) => `There is no MCP server "${name}". "pawl mcp list" lists them.`,
  gone: (name: string) => `There is no MCP server "${name}" any more.`,
  notSignedIn: (name: string) => `You are not signed in. To try again, run "pawl mcp login ${name}".`,
  pageNotFound: "This page does not exist.",
  pageDone: (name: string) => `You are signed in to ${name}. You can close this page.`,
  pageFailed: "Signing in failed. Return to the terminal.",
  answerCut: "The answer was interrupted. Ask again with the same key, or read it in Pawl.",
  unusedOnServer: (name: string) =>
    `The MCP server ${name} of this editor is not used, because this conversation runs on a server. Add it there with "pawl mcp add" or in the page's settings.`,
  unusedSse: (name: string) => `The MCP server ${name} of this editor is not used, because it supports only SSE.`,
  unusedTooMany: (name: string, most: number) =>
    `The MCP server ${name} of this editor is not used, because there are more than ${most}.`,
} as const
