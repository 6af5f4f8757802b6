import { alternatives, bytesText, plural } from "./plural.ts"

/** The command `pawl chat`, before its screen is shown and after it is left. */
export const chatCommandText = {
  help: `Usage: pawl chat [options]

Starts a conversation in this terminal. Changes are shown before they are made, and made if you approve. In the chat, /help
lists the keys and commands. Data is stored in PAWL_DATA, by default in ~/.local/share/pawl, never in the folder.

  --continue      continue the last conversation of this folder, with the changes that wait for your approval
  --conversation ID  continue this conversation
  --mode MODE     what happens with changes: read-only, confirm (ask first; default) or auto (automatic)
  --model NAME    the model (default: the one you chose last, or PAWL_MODEL)
  --set NAME=VAL  how the model replies: effort=low, thinking=off, temperature=0.2 …; the same as /settings in the chat
  --agent NAME    the agent (default: files, which works in the folder)
  --dir PATH      work in this folder instead of the current one
  --trust         trust the files of the folder without asking (pawl trust --help)
  --no-rules      do not follow AGENTS.md and CLAUDE.md
  --server URL    use a server; the files stay on this machine
  --token TOKEN   the token for the server; PAWL_TOKEN is safer, because process lists do not show it
`,
  takesNoRequest: 'pawl chat does not take a request. Write it in the chat, or run: pawl exec "…"',
  needsTerminal: 'pawl chat needs a terminal, but standard input or output is a pipe or a file. Run: pawl exec "…"',
  oneConversation: "Use only one of --continue and --conversation.",
  continueHint: 'To continue this conversation, run "pawl chat --continue".\n',
} as const

/** Names of the modes, as the page shows them. */
export const modeNames: Readonly<Record<string, string>> = {
  "read-only": "read only",
  confirm: "ask first",
  auto: "automatic",
}

/** The screen of `pawl chat`: its start, the lines around the input, and notices. */
export const chatText = {
  opening: "opening …",
  openingFor: (seconds: number) => `opening … ${seconds} s`,
  leaveHint: "Ctrl-C twice quits",
  welcome: (place: string) => `Pawl in ${place}. /help lists keys and commands.`,
  nothingToContinue: "There is no conversation to continue here. Your next message starts one.",
  changeWaitsElsewhere: (quotedTitle: string, summary: string) =>
    `! A change waits for your approval in another conversation of this folder, ${quotedTitle} (/conversations lists it): ${summary}`,
  untitled: "Untitled",
  trustQuestion: (folder: string) =>
    `Do you trust the files in ${folder}? If not, Pawl still works on them, but asks before it sends anything out. Type y or n.`,
  rulesQuestion: (files: readonly string[]) =>
    `${files.join(" and ")} changed since you trusted this folder. Should Pawl follow ${files.length === 1 ? "it as it is" : "them as they are"} now? Type y or n.`,
  rules: (files: readonly string[]) => `Rules: ${files.join(", ")}`,
  typeYesOrNo: "Type y or n, then Enter.",
  conversationTitle: (title: string) => `── ${title}`,
  place: (folder: string, server: string) => `${folder} at ${server}`,

  working: "working",
  summarizing: "summarizing",
  doing: (what: string, duration: string | undefined) =>
    `${what}${duration === undefined ? "" : ` ${duration}`} · Esc stops`,
  away: "server not reachable, retrying",
  context: (use: string, cost: string | undefined) => `context ${use}${cost === undefined ? "" : `, ${cost} so far`}`,
  tokens: (tokens: number, cost: string | undefined) =>
    `${plural(tokens, "token")}${cost === undefined ? "" : ` · ${cost}`}`,
  quitHint: "Press Ctrl-C again to quit.",

  sentWhenOpen: "Your message is sent as soon as Pawl is open.",
  sentWhenBack: "sent when the server is back: ",
  tooLong: (bytes: number) =>
    `The message is too long by ${bytesText(bytes)}. Shorten it, or put the text into a file and attach it with @path.`,
  pasted: (lines: number, characters: number) =>
    `[pasted ${lines > 1 ? plural(lines, "line") : plural(characters, "character")}]`,
  editHint: "Edit the arguments, then press Enter. Esc cancels.",
  decidedElsewhere: "Someone decided this change in the meantime.",
  answerSending: "Your answer is being sent.",
  alreadyTaken: "The message was already sent.",

  queueHeld: "held: ",
  queueSteers: "next step: ",
  queueWaits: "queued: ",
  queueMore: (messages: number) => `and ${plural(messages, "more message")}`,
  queueWhileRunning: "sent with the next step, or at the end; Esc takes it back, then Enter sends it now",
  queueWhileDeciding: "waits until the change above is decided; Esc takes it back",
  queueNow: "being sent now; Esc takes it back",
  queueHeldBecause: (why: "ended" | "failed" | "stopped") =>
    `held because the last run ${why === "stopped" ? "was stopped" : why}; /send sends it now, Esc takes it back`,

  linesAbove: (lines: number) => `… ${plural(lines, "line")} above`,
  linesBefore: (lines: number) => `  … ${plural(lines, "line")} before; /show shows them`,
  moreLines: (lines: number) => `… ${plural(lines, "more line")}`,
  moreLinesOfMessage: (lines: number) => `… ${plural(lines, "more line")}; /all shows them`,
  moreCharacters: (characters: number) => `… ${plural(characters, "more character")}; /all shows them`,
  moreRows: (rows: number) => `… ${plural(rows, "more row")}`,
  morePoints: (points: number) => `… ${points} more`,
  textUnchanged: "(text unchanged)",
  unknownEvent: (type: string) => `· an event that this version does not know: ${type}`,
  continueCut: (ending: string) => `${ending} /continue does that.`,
  summaryHint: " /summary shows what the model sees instead.",
  thought: (words: string) => `· ${words} · /reasoning shows it`,
  endedAfterAll: "It completed after all: ",
  failedAfterAll: "It failed after all: ",
  file: (name: string, type: string, bytes: number) => `${name} (${type}, ${bytesText(bytes)})`,

  questionUrl: (url: string) => `  Open this address: ${url}`,
  questionUntil: (time: string, how: string) => `  Until ${time}: ${how}`,
  questionYesNo: "yes or no",
  questionRequired: "required",
  questionAgree: "/answer accepts, /decline refuses.",
  questionOne: "write /answer and your answer; /decline refuses.",
  questionSeveral: "write /answer name=value; name=value. /decline refuses.",
  programWaits: (what: string) => `… ${what} Esc stops.`,

  imageUploading: "The image is still being read. Send when it is listed below your message.",
  attachmentAlone: "Write what to do with the attachment, then press Enter.",
  removeAttachment: " · Backspace at the start removes it",
  attachments: (files: readonly { readonly path: string; readonly bytes: number }[]) =>
    `with ${files.map(({ path, bytes }) => `${path} (${Math.ceil(bytes / 1024).toLocaleString("en")} KB)`).join(", ")}`,
  pasteWhileOpening: "Pawl is still opening. Paste the image in a moment.",
  readingClipboard: "Reading the clipboard …",
  fileAttached: "The file is attached. Remove the @ to send only its path.",
  filesAttached: "The files are attached.",
  noFileStartsWith: (path: string) => `No readable file starts with ${path}.`,
  moreFiles: (files: number) => `… ${files} more`,
  noImage: "There is no image in the clipboard. To paste text, use the paste key of your terminal.",
  imageTooLarge: (megabytes: number) => `The image in the clipboard is larger than ${megabytes} MB.`,
  noClipboardProgram: (programs: readonly string[]) =>
    `Reading images from the clipboard needs ${alternatives(programs)}. Install one, or save the image and attach it with @path.`,
  clipboardUnreadable:
    "The clipboard has no image or cannot be read from here, for example over SSH. Save the image and attach it with @path.",

  serverUnreachable: "The server cannot be reached. Check that it is running, then try again.",
  serverUnknown: "The server answers in a way that this version does not understand. Check that both versions match.",
  notFound: "It does not exist any more, or it is not yours.",
  noModel:
    "No model is selected. /model lists the models, /model NAME selects one. Ctrl+C removes your message from the line; ↑ brings it back.",
  tokenRefused: 'The server does not accept this token. Create a new one there with "pawl token create --user NAME".',
} as const
