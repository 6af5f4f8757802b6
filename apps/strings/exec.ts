import { alternatives, bytesText } from "./plural.ts"

/** Options that several commands have. */
export const optionText = {
  badMode: (mode: string, modes: readonly string[]) => `--mode must be ${alternatives(modes)}, not "${mode}".`,
  badSetting: (problem: string) => `--set: ${problem}`,
  badCount: (option: string, text: string) => `${option} must be a whole number of at least 1, not "${text}".`,
} as const

/** `pawl exec`. */
export const execText = {
  help: `Usage: pawl exec "request" [options]

Runs one request in a new conversation and prints the answer as it arrives, with the tables and charts that it refers to. Tool
calls are shown on stderr. Text on standard input is added to the request.

  --dir DIR       work on the files of this folder (default: the current folder, except for the home folder and /;
                  with --server no folder)
  --trust         trust the files of that folder from now on (pawl trust --help)
  --no-rules      do not follow AGENTS.md and CLAUDE.md
  --agent NAME    the agent (default: files, or workspace if there is no folder to work in)
  --model NAME    the model (default: the one you chose last, or PAWL_MODEL)
  --set NAME=VAL  how the model replies: effort=low, thinking=off, temperature=0.2, maxOutputTokens=500, stop=END,
                  parallelCalls=off; can be repeated
  --file PATH     attach a file: an image, a PDF or text, up to 25 MB; can be repeated. @PATH in the request does the same
                  for a file of the folder
  --mode MODE     what happens with changes: read-only, confirm (ask first; default) or auto (automatic)
  --continue      continue the newest conversation of the folder; it keeps its mode and agent. Changes that wait
                  there for approval are set aside and listed on stderr
  --schema FILE   print only JSON that fits this JSON schema; an answer that does not fit is corrected, at most twice
  --json          print events as JSON lines instead of text
  -o FILE         also write the last answer to a file
  --verbose       show the ids of conversations and changes
  --server URL    use this server instead of one in this process
  --token TOKEN   the token for the server; PAWL_TOKEN is safer, because process lists do not show it

Exit codes (stderr has the reason):
  0    answered
  1    wrong usage or settings
  2    a change needs your approval (nothing was changed; stderr names the tool) or is in doubt
  3    failed: no answer, an incomplete one, or with --schema none that fits
  4    refused by the model provider (content filter); the text so far is printed
  5    cut: the output limit was reached, or the provider did not report that the answer is complete
  6    the model replied with no text
  130  cancelled
`,
  continueKeepsAgent: "--continue keeps the agent of the conversation. Remove --agent.",
  schemaOrJson: "--schema prints one JSON value, --json prints one event per line. Use only one of them.",
  missingRequest: "Write what to do.",
  rulesChanged: (files: readonly string[], dir: string) =>
    `${files.join(" and ")} changed since you trusted this folder and ${files.length === 1 ? "is" : "are"} not used. To use ${files.length === 1 ? "it" : "them"}, run "pawl trust ${dir}".\n`,
  trustNeedsFolder: "--trust needs a folder. Add --dir DIR.",
  filesNotRead: "The files of this folder are not used. To work on them, run: pawl exec --dir . …\n",
  fileOutsideFolder: (path: string) =>
    `@${path} is not attached, because it is not in the folder. To attach it, use --file ${path}.\n`,
  cannotAttach: (option: string, path: string, reason: string) =>
    `${option}${path} cannot be read: ${reason}. Nothing was sent.`,
  nothingToContinue: "There is no conversation to continue. Remove --continue.",
  conversation: (id: string) => `conversation ${id}`,

  // The end of a sentence that the exit code stands for.
  refused: "the provider refused to answer or to continue (content filter)",
  cutByUs: "the answer was cut: it was longer than PAWL_REPLY_CHARACTERS allows",
  cutByLimit: "the answer was cut: the model reached its output limit",
  maybeCut: "the answer may be cut: the provider did not report that it was finished",
  outOfCalls: "the model had to answer because it reached its limit of tool calls",

  callStarted: (tool: string, input: string) => `> ${tool} ${input}`,
  callEnded: (tool: string, status: string, ms: number, reason: string) =>
    `< ${tool}: ${status} (${ms} ms)${reason === "" ? "" : `: ${reason}`}`,
  replyRestarted: "(the answer was interrupted and starts again)",
  runResumed: "(the run was interrupted and continues)",
  approvalNeeded: (tool: string, summary: string) => `Waiting for your approval: ${summary} (${tool})`,
  approvalAdvice: (command: string, id: string | undefined) =>
    `  Nothing was changed. To decide, run: ${command}${withId(id)}`,
  inDoubt: (tool: string, summary: string) =>
    `In doubt: ${summary} (${tool}). It started and was interrupted, so it may or may not have happened.`,
  inDoubtAdvice: (command: string, id: string | undefined) =>
    `  Check whether it happened, then settle it with: ${command}${withId(id)}`,
  requestNotSent: "your request was not sent. Settle the change that is in doubt, then send it again.",
  setAside: (tool: string, summary: string, id: string | undefined) =>
    `your new request set aside a change that was waiting for approval; it was not applied: ${summary} (${tool})${withId(id)}`,
  cancelled: "cancelled",
  ending: (sentence: string) => `pawl: ${sentence}.`,
  error: (message: string) => `pawl: ${message}`,

  cannotWriteOutput: (option: string, path: string, reason: string) =>
    `${option} cannot write ${path}: ${reason}. Nothing was sent.`,
  outputIncomplete: (option: string, path: string, reason: string) =>
    `${option} could not write all of ${path}: ${reason}.`,

  schemaProblem: (path: string, problem: string) => `--schema ${path}: ${problem} Nothing was sent.`,
  schemaTooLarge: (size: number, most: number) => `the file has ${bytesText(size)}; the limit is ${bytesText(most)}.`,
  schemaUnreadable: (reason: string) => `${reason}.`,
  schemaNotJson: (place: string) => `the file is not valid JSON${place}.`,
  schemaNotObject: 'a JSON schema must be an object, such as {"type": "object"}.',
  answerDoesNotFit: (problem: string) => `(the answer does not fit the schema: ${problem})`,
  noFittingAnswer: (reason: string | undefined) =>
    `pawl: no answer fits the schema${reason === undefined ? "" : `: ${reason}`}.`,
} as const

const withId = (id: string | undefined) => (id === undefined ? "" : ` (${id})`)
