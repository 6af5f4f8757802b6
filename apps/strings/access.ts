/** The commands that let people and programs in, and that trust folders: invite, token, trust. */

export const inviteText = {
  help: `Usage: pawl invite --user NAME [--admin] [--server URL]

Prints a link that signs a browser in as this person, and nothing else. The link works once, within 15 minutes; only its hash
is stored. The person is created if the name is new. Works while the server runs.

  --user NAME    the person to sign in
  --admin        also allow the session to administer the server (scope admin)
  --server URL   the address of the server (default: PAWL_PUBLIC_URL, or the address it listens on)
`,
  missingUser: "Name the person to invite.",
} as const

export const tokenText = {
  help: `Usage: pawl token create --user NAME [--scopes read,chat,approve,manage] [--days N]

Prints a new personal access token, and nothing else. It is shown only once; only its hash is stored. The person is created if
the name is new. Works while the server runs.

  --user NAME     the owner of the token
  --scopes LIST   what the token allows, separated by commas (default: the first four):
                  read          read conversations and data
                  chat          send messages
                  approve       approve or reject changes, and edit data
                  manage        tokens, sessions, providers, connections, deletion, export
                  admin         administer the server
                  self-approve  (with approve) apply changes on its own device without asking
  --days N        days until the token expires (default: it works until it is revoked)
`,
  unknownAction: (action: string) => `Unknown action "${action}". The only one is create.`,
  missingAction: "Say what to do with tokens. The only action is create.",
  missingUser: "Name the owner of the token.",
  unknownScope: (scope: string, scopes: string) => `There is no scope "${scope}". Scopes: ${scopes}.`,
  badDays: (text: string, most: number) => `--days must be a whole number from 1 to ${most}, not "${text}".`,
} as const

export const trustText = {
  help: `Usage: pawl trust
       pawl trust DIR
       pawl trust --remove DIR

Without arguments, lists the folders that you trust or do not trust. With DIR, trusts that folder. If you do not trust a
folder, Pawl still works on its files, but does not follow its AGENTS.md and CLAUDE.md, and a conversation that has read its
files asks before it sends anything out. A trusted folder includes its subfolders, but not another git repository inside it.
Rules that change later are not followed until you agree again: pawl chat asks, and pawl trust DIR agrees.

  --remove DIR    forget your answer for this folder; pawl chat asks again
`,
  oneFolder: "Specify exactly one folder.",
  noAnswer: (dir: string) => `You have not answered for ${dir}. Run "pawl trust" to list the folders.`,
  forgotten: (dir: string) => `Your answer for ${dir} is forgotten.\n`,
  notAFolder: (dir: string) => `${dir} is not a folder.`,
  trusted: (dir: string) => `${dir} is trusted. To undo this, run "pawl trust --remove ${dir}".\n`,
  folder: (isTrusted: boolean, folder: string) => `${isTrusted ? "trusted    " : "not trusted"}  ${folder}`,
  none: 'No folders yet. To trust one, run "pawl trust DIR".\n',
} as const
