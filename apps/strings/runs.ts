import { plural } from "./plural.ts"

/** `pawl show` and `pawl replay`. */
export const showText = {
  help: `Usage: pawl show [RUN] [OTHER] [options]

Shows the steps of a run: each reply, tool call, wait and problem, with its start, duration and cost. RUN is the id of a run
(run_…), or of a conversation (conv_…) for its newest run; without it, the newest run is shown. With two runs, they are shown
side by side.

  --rows          print the recorded events instead, one JSON object per line
  --json          print the timeline as JSON
  --at POSITION   print the state after this event, as JSON; the first number of each line is its position
  --share         print a link that lets others who can sign in to the server see this run, and nothing else
  --days NUMBER   days until the link expires (default: 7), or forever
  --shares        list the active links; --unshare ID revokes one
  --dir DIR       use the conversations of this folder, as pawl chat does
  --server URL    use this server instead of one in this process
  --token TOKEN   the token for the server; PAWL_TOKEN is safer, because process lists do not show it
`,
  onlyOne: (options: readonly string[]) => `Use only one of ${options.join(" and ")}.`,
  daysWithoutShare: "--days is only for --share.",
  folderNotShared: "Conversations of a folder (--dir) are not on a server, so they cannot be shared.",
  tooMany: "Name one run, or two to compare them.",
  twoOnlyTimelines: (option: string) => `${option} works for one run only.`,
  notFound: (id: string, isLocal: boolean) =>
    `${id} does not exist, or it is not yours.` +
    (isLocal ? " For runs on a server, use --server URL and PAWL_TOKEN." : ""),
  notARun: (text: string) =>
    `"${text}" is not a run. The ids of runs start with run_, those of conversations with conv_.`,
  noConversation: "There is no conversation yet, so there is no run to show.",
  noRun: (id: string) => `${id} has no run yet.`,
  badPosition: (text: string) => `--at must be the position of an event, such as 12, not "${text}".`,
  shareNotice: (until: string | undefined) =>
    `Everyone who has the link and can sign in to the server sees this run: messages, replies, tool calls with arguments and
results, times and cost. They do not see other runs, files, reasoning or instructions. "pawl show --shares" lists the links,
"pawl show --unshare ID" revokes one. ${until === undefined ? "The link does not expire." : `The link expires at ${until}.`}\n`,
  share: (id: string, run: string, until: string | undefined) => `${id}  ${run}  ${until ?? "does not expire"}`,
  noShares: "No run is shared.",
  notAShare: (id: string) => `"${id}" is not a link. The ids of links start with shr_; --shares lists them.`,
  unshared: (id: string) => `${id} is revoked.`,
  badDays: (text: string) => `--days must be a number from 1 to 365, or forever, not "${text}".`,
} as const

export const replayText = {
  help: `Usage: pawl replay RUN [options]

Rebuilds each model request of a run from its journal, with the current agents, settings and program, and compares it byte by
byte with the recorded digest of the request that was sent. It calls no model and no tool, and writes nothing. RUN is the id of
a run (run_…), or of a conversation (conv_…) for its newest run, of any user. The rebuilt state is compared too, with the row of
the run and with the snapshot of a long journal. Exit code 1 if a request or the state differs, or if the journal cannot be read
to its end.

  --model NAME  send each request to this model instead, and show its reply next to the recorded one. No tool is called:
                recorded results are used as long as the tool calls are the same, and the replay stops where they differ.
                Uses the server's own keys and costs what it prints
  --json        print the result as JSON
  --dir DIR     use the conversations of this folder, as pawl chat does
`,
  missingRun: "Name one run.",
  notFound: (id: string) => `${id} does not exist. It may have been erased.`,
  noFirstEvent: (run: string) => `The journal of ${run} has no start event, so its requests cannot be rebuilt.`,
  erased: (run: string) => `${run} was erased a moment ago.`,
  head: (run: string, status: string, requests: number) => `${run} · ${status} · ${plural(requests, "request")}`,
  dryHead: (run: string, model: string) => `${run} · ${model}, dry run`,
  noReply: "The run has no recorded reply, so there is no request to send.",
  parted: (row: number, model: string, callsNothing: boolean) =>
    `At row ${row} the runs differ: ${model} ${callsNothing ? "calls no tool there" : "makes other tool calls"}, so no recorded result fits.`,
  sameCalls: (model: string) => `${model} made the same tool calls to the end of the run.`,
  nothingAsked: "No request was sent, and nothing was spent.",
  costUnknown: "The cost is not known.",
  cost: (amount: string) => `Cost: ${amount}.`,
  call: (name: string, input: string) => `→ ${name} ${input}`,
  differs: (what: string) => `differs: ${what}`,
  interrupted: "interrupted",
  notRebuilt: (why: string | undefined) => `not rebuilt: ${why}`,
  question: "the question",
  otherStep: (step: string) => `the model would not be called here now; the next step is ${step}`,
  systemPrompt: "the system prompt",
  tools: "the tools",
  options: "the options (tool choice, settings, answer schema)",
  files: "the attached files",
  messageCount: (then: number, now: number) => `it had ${plural(then, "message")} and now has ${now}`,
  message: (number: number, role: string | undefined) => `message ${number} (${role})`,
  messages: (from: number, to: number) => `one of the messages ${from} to ${to}`,
  startsNow: (text: string) => ` It now starts with ${text}.`,
  toolsNow: (names: string) => ` They are now: ${names || "none"}.`,
  decisionRequest: (what: string, row: number) => `the request for the ${what} of row ${row}`,
  request: (row: number) => `the request that row ${row} answers`,
  firstDifference: (which: string, what: string, now: string) => `The first difference is in ${which}: ${what}.${now}`,
  allEqual: "Every request is byte for byte the one that was sent.",
  someEqual: (all: number, equal: number) =>
    `${equal} of ${plural(all, "request")} could be compared; ${equal === 1 ? "it is" : "they are"} equal to what was sent.`,
  nothingRecorded: "Nothing could be compared, because no sent request is recorded.",
  newerRow: (row: number, type: string) =>
    `Row ${row} (${type}) was written by a newer version of Pawl. It and later rows were not checked.`,
  missingRow: (row: number) =>
    `Row ${row} is missing, but later rows exist. It and later rows were not checked. The database was changed from outside.`,
  tornRow: (row: number) =>
    `Row ${row} cannot be read. It and later rows were not checked. The database was changed from outside.`,
  running: "The run is still active; this is what it has recorded so far.",
  paused: "The run waits for someone; this is what it has recorded so far.",
  stateDiffers: (fields: string) => `The rebuilt state differs from the table of runs (${fields}).`,
  snapshotEqual: (row: number | undefined) => `The snapshot after row ${row} is byte for byte the rebuilt state.`,
  snapshotSkipped: (row: number | undefined) => `The snapshot after row ${row} is of another version and was skipped.`,
  snapshotDiffers: (row: number | undefined) =>
    `The snapshot after row ${row} differs from the rebuilt state. Delete it (table kept_fold); it is created again.`,
} as const
