import { plural } from "./plural.ts"

/** Changes that wait for approval in `pawl chat`: the card, the question below it, and the answers. */
export const changeCardText = {
  adds: "Adds",
  changes: "Changes",
  overwrites: "Overwrites",
  deletes: "Deletes",
  runsCommand: "Runs a command",
  sendsOut: "Sends data out",
  place: (number: number, all: number) => `${number} of ${all} · `,
  tool: (name: string) => ` · ${name}`,
  inDoubt: "This was interrupted, and it is not known whether it happened. Check, then answer.",
  undoable: "You can undo this later.",
  notUndoable: "This cannot be undone.",
  commandNotUndoable: "/undo cannot restore what a command changes.",
  shownAbove: (names: string) => `${names}: as shown above`,
  exactly: "Exact arguments:",
  proposeAgainHint: "; /again proposes it again",

  question: (answers: readonly string[], remarks: readonly string[]) => [answers.join(" / "), ...remarks].join(" · "),
  answersInDoubt: ["retry", "done", "abandon"],
  expiredCount: (changes: number) => `${changes} expired`,
  expired: "This expired, and nothing was changed.",
  expiredHow:
    'This expired, and nothing was changed. Press Enter to continue without it, or type "again" to propose it once more.',
  countToDecide: (changes: number) => `There ${changes === 1 ? "is 1 change" : `are ${changes} changes`} to decide.`,
  resolveHow: "Type what happened: retry (run it again), done (it happened) or abandon (it did not).",
  enterDecidesNothing: "Enter alone decides nothing. Type yes or no.",
  whichOne: (choices: string) => `Which one? ${choices}.`,
  askedEachTime: "Changes like this are asked about every time. Type yes or no.",

  allAndNone: "all: approve everything, then automatic mode. none: reject everything, then read-only mode.",
  always: (what: string, isCommand: boolean) =>
    `always: yes, and approves ${what}.${isCommand ? " always START *: also commands that start like this." : ""}`,
  alwaysSeveral: (uses: number) =>
    `the next ${uses} calls of its tool that change no more; for a command: only that line`,
  alwaysPrefix: (uses: number, prefix: string) => `the next ${uses} commands that match ${prefix}`,
  granted: (what: string) => `Approved without asking: ${what}. /grants off revokes this.`,

  window: (from: number, to: number, all: number) => `  lines ${from}–${to} of ${all} · `,
  windowMore: "Space or PgDn: more, End",
  windowEnd: "PgUp: back, Home",
  windowUnread: (line: number) => ` · not read from line ${line}`,

  otherChange: "Another change is shown now. Read it, then type your answer again.",
  noRoom: "The window is too small to show the change. Make it taller.",
  notShownYet: "The change was not on the screen yet. Read it, then answer.",
  unread: (lines: number, isAbove: boolean, answer: string) =>
    `${plural(lines, "line")} not shown yet: ${isAbove ? "PgUp" : "PgDn"} shows them. ${answer}! approves without reading.`,

  modeAll: "Mode: automatic. Changes are made without asking. To be asked again: /mode confirm",
  modeNone: "Mode: read only. Nothing is changed. To allow changes again: /mode confirm",
  expiredBefore: (summaries: string) => `! Expired before your answer arrived: ${summaries}`,
  clockAhead: "! This has not expired: the clock of this machine is ahead of the server's. You can decide now.",
  otherFirst: "! Another change must be decided first.",
  notJson: (place: string) => `This is not valid JSON${place}.`,
  notObject: "This must be a JSON object: { … }",
} as const
