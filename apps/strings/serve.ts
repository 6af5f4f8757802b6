/** `pawl serve` and `pawl device`: processes that run until they are stopped. */

export const serveText = {
  help: `Usage: pawl serve [--port N] [--host H]

Starts the server. It prints a link that signs a browser in once, and "listening on http://…" when it is ready. SIGTERM or
Ctrl-C stops it; active runs continue at the next start.

  --port N   the port, or 0 for any free one (PAWL_PORT, default 7295)
  --host H   the address to listen on (PAWL_HOST, default 127.0.0.1)

All settings are environment variables; "pawl help settings" lists them. The most common: PAWL_DATA (the data folder),
DATABASE_URL (PostgreSQL instead of a file), PAWL_PUBLIC_URL, and for models OPENAI_API_KEY, ANTHROPIC_API_KEY,
OPENROUTER_API_KEY, OPENAI_BASE_URL, LM_STUDIO_ENDPOINT or OLLAMA_HOST. Without a model, a small offline model answers.
`,
  signIn: (link: string) => `Sign in (works once, within 15 minutes): ${link}\n`,
  noTokens: "No one can sign in yet. To create a sign-in link, run: npx pawl invite --user NAME\n",
  listening: (url: string) => `listening on ${url}\n`,
  portInUse: (port: number) =>
    `Port ${port} is already in use, maybe by another Pawl. Choose another with --port, or use --port 0 for any free one.`,
  cannotListen: (host: string, port: number, reason: string) => `Cannot listen on ${host}:${port}: ${reason}.`,
  storeBroken: (message: string) => `${message} Start the server again.`,
  warning: (text: string) => `warning: ${text}\n`,
  dataFolder: (folder: string) => `Data folder: ${folder} (to change it, set PAWL_DATA)\n`,
} as const

export const deviceText = {
  help: `Usage: pawl device [--server URL] [--token TOKEN] [--db FILE]

Stores a workspace on this machine (tasks, projects, checkpoints, notes, comments and clients in one SQLite file) and makes it
available to the server, for the owner of the token. It stays connected until you stop it, or until the server no longer
accepts the token. Each change is applied exactly once, even if the connection or this process fails.

  --server URL    the address of the server (default: from the settings on this machine)
  --token TOKEN   a token from "pawl token create"; PAWL_TOKEN is safer, because process lists do not show it
  --db FILE       the workspace file (default: device.db in the data folder)

Exit codes: 0 stopped, 1 wrong usage or settings, or refused by the server.
`,
  connected: (server: string, device: string, db: string) => `connected to ${server} as ${device}, workspace ${db}`,
  disconnected: (reason: string) => `disconnected: ${reason}; reconnecting`,
  closed: "closed",
  cannotOpen: (file: string, reason: string) => `The workspace ${file} cannot be opened: ${reason}.`,
} as const

/** Text of commands that connect to a server. */
export const connectionText = {
  missingToken:
    'A token is needed. Set PAWL_TOKEN or pass --token. To create a token, run "pawl token create --user NAME" on the server.',
  badServer: (text: string) => `--server must be an address such as https://pawl.example, not "${text}".`,
  unreachable: (reason: string | undefined) =>
    `The server cannot be reached${reason === undefined ? "" : `: ${reason}`}. Check the address and that the server is running.`,
  refused: 'The server does not accept this token. Create a new one there with "pawl token create --user NAME".',
  notPawl: "The server answers, but not like a Pawl server. Check the address, and that both have the same version.",
  folderInUse: (folder: string) =>
    `Another terminal or editor already works in ${folder} through this server. Close it, or continue in the web page.`,
  cannotOpenFolder: (folder: string, reason: string) => `The folder ${folder} cannot be opened: ${reason}.`,
} as const
