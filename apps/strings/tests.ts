import { plural } from "./plural.ts"

/** `pawl eval` and `pawl crashtest`. */
export const evalText = {
  help: `Usage: pawl eval FILE [options]

Runs the cases of a file against agents and models and checks the results: answers, tool calls, changes, data, files, cost and
time. Each case runs in its own empty Pawl, which is deleted afterwards; your data is not touched. Models and packs come from your
settings. docs/reference/evaluation-files.md describes the file format.

  --model NAME        use this model instead of those in the file, and no scripts; can be repeated
  --judge NAME        the model that judges answers, unless a case names one
  --filter WORDS      run only cases with these words in their name; can be repeated
  --repeat N          run each case N times
  --concurrency N     run up to N cases at once (default: 4, or as in the file)
  --fail-fast         stop after the first failure
  --max-cost USD      stop when this much is spent
  --json              print the report as JSON instead of a table
  --save FILE         also write that JSON to a file
  --baseline FILE     compare with the JSON of a previous run; cases that failed there may fail
  --tolerate F=N%     with --baseline: allow cost, tokens, latency or latencyWithoutModel to be worse by this much; values that
                      are named neither here nor in the file are not compared
  --schema            print the JSON schema of case files, for editors, and exit

Exit codes: 0 all cases passed, 1 wrong usage, settings or file, 2 a case failed or did not run (with --baseline: a case got worse,
or is new and fails), 130 stopped with Ctrl-C; the results so far are printed.
`,
  oneFile: "Name one file of cases.",
  noCase: (file: string, filter: string) => `No case of ${file} has ${filter} in its name.`,
  filterWord: " or ",
  evaluating: "evaluating",
  run: (name: string, agent: string, model: string) => `${name} · ${agent} · ${model}`,
  ran: (count: string, passed: boolean, what: string, why: string) =>
    `${count} ${passed ? "passed" : "failed"} ${what}${why === "" ? "" : `: ${why}`}`,
  tolerateAlone: "--tolerate has no effect without --baseline.",
  badCost: (text: string) => `--max-cost must be an amount in dollars such as 0.50, not "${text}".`,
  badTolerance: "--tolerate must be cost, tokens, latency or latencyWithoutModel with a percentage, such as cost=20%.",
} as const

export const crashtestText = {
  help: `Usage: pawl crashtest FILE
       pawl crashtest RUN
       pawl crashtest --agent NAME --say WORDS

Runs a scenario once to its end, then once for each write: the process is killed with SIGKILL before or after the write, and a
new process continues with the same temporary data. A write is a commit to the database, or whatever a tool changes outside (a
file, a request, a program). Every time, the transcript must be the same, each write must happen at most as often as without the
kill, and the provider must never receive a broken history. Tools really run, so use test targets. The agents are those of the
server, including PAWL_PACKS; the model is that of the scenario, or the offline model.

Exit codes: 0 no difference, 1 a difference or wrong usage, 130 stopped with Ctrl-C.

  FILE           a scenario as JSON: say, and optionally agent, mode, replies, decide, mayRunAgain (docs/guide/crashtest.md)
  RUN            the id of a run (run_…): replays the messages and replies of its conversation up to its end
  --agent NAME   the agent, if there is no file
  --say WORDS    the message; can be repeated for several messages
  --mode MODE    confirm (every change is approved), auto or read-only
  --every N      test only every Nth write
  --jobs N       run N tests at once (default: 1)
  --json         print the result as JSON
`,
  whole: "Full run",
  killed: "Killed",
  boundary: (when: string, what: string) => `${when} ${what}`,
  notEvenWhole: (reason: string) => `The scenario fails even without a kill: ${reason}`,
  oneScenario: "Name one scenario file or run, or use --agent and --say.",
  missingSay: "Write the message with --say WORDS.",
  unreadable: (file: string, reason: string) => `${file} cannot be read: ${reason}.`,
  notJson: (file: string, place: string) => `${file} is not valid JSON${place}.`,
  notScenario: (file: string, problem: string) => `${file} is not a valid scenario: ${problem}.`,
  scenario: "The scenario",

  notReached: "not reached",
  same: "same",
  sameWithDoubt: "same; a write was in doubt and was asked about",
  differs: (differences: string) => `DIFFERS: ${differences}`,
  summary: (boundaries: number, differing: number) =>
    `Killed at ${boundaries === 1 ? "1 boundary" : `${boundaries} boundaries`}: ${
      differing === 0 ? "every result equals the full run." : `${differing} ${differing === 1 ? "differs" : "differ"}.`
    }`,
  didNotEnd: "it did not reach its end",
  notRepeatable: "two full runs differ, so killed runs cannot be compared with them",
  newProcessFailed: (reason: string | undefined) =>
    `The new process did not reach the end: ${reason ?? "unknown reason"}.`,
  brokenHistory: (problem: string) => `The provider received a broken history. ${problem}`,
  ranTooOften: (tool: string, times: number, expected: number, advice: string) =>
    `${tool} ran ${times} times instead of ${expected === 1 ? "once" : `${expected} times`}. ${advice}`,
  declaresRunAgain:
    'It declares afterCrash: "run-again". If a second run changes nothing, name it in mayRunAgain. Otherwise declare "ask-target" with an outcome that looks for the call id, or "in-doubt".',
  writesWithoutApplyOnce:
    'It declares afterCrash: "run-again", but writes without its call id. Write with applyOnce, which applies a call once, or declare "in-doubt".',
  besidesApplyOnce: (effects: string) =>
    `It declares afterCrash: "run-again" and writes with applyOnce, but this happens outside of it each time: ${effects}. Declare "in-doubt", or "ask-target" with an outcome that looks for the call id.`,
  mayRunAgainByApplyOnce: (tool: string) =>
    `${tool} writes only with applyOnce. If it declares afterCrash: "run-again", Pawl repeats it after a crash instead of asking a person.`,
  declaresAskTarget:
    'It declares afterCrash: "ask-target", but its outcome reported a completed call as not done. Store the call id together with the effect, in one transaction.',
  declaresOther: (afterCrash: string) =>
    `It declares afterCrash: "${afterCrash}" and should not have run again. Its effect happens before or outside of its call.`,
  transcriptDiffers: (line: number, found: string, expected: string, advice: string) =>
    `The transcript differs at line ${line}: ${found} instead of ${expected}.${advice}`,
  nothing: "nothing",
  quoted: (who: string, text: string) => `"${who}: ${text}"`,
  declareRunAgain: ' A read that may run again after a crash should declare afterCrash: "run-again".',
  unknownTool: (tool: string) => `its replies call ${tool}, but its agent has no such tool.`,
  tooFewReplies: (replies: number) =>
    `it has ${plural(replies, "reply", "replies")}, but the model is asked for one more.`,
  runFails: (reason: string | undefined) => `a run fails: ${reason ?? "unknown reason"}`,
  tooManyReplies: (replies: number, asked: number) =>
    `it has ${plural(replies, "reply", "replies")}, but the model is asked for only ${asked}.`,
  noRun: (run: string) => `${run} does not exist. It may have been erased.`,
  runNotOver: (run: string, status: string) => `${run} is not finished yet (${status}).`,
  newerRow: (row: number, type: string) =>
    `Row ${row} (${type}) was written by a newer version of Pawl. Update Pawl to use this run.`,
  notReplayable: (run: string) => `${run} cannot be replayed, because it has no user message or no model reply.`,
  unknownProgram: "The file that started this program is not known, so it cannot start new processes.",
  processEnded: (why: string) => `it ended with ${why}`,
  processHangs: (seconds: number) => `it did not end within ${seconds} s`,
  processKilled: "it was killed",
} as const

/** `pawl acp`. */
export const acpText = {
  help: `Usage: pawl acp [options]

Runs as an agent inside an editor: it speaks the Agent Client Protocol on standard input and output and is started by the
editor. It works on the files of the folder that the editor has open; changes are shown there for approval first.
docs/recipes/connect-an-editor.md has the settings for Zed, JetBrains and Neovim. Data is stored in PAWL_DATA, by default in
~/.local/share/pawl, never in the folder. Errors are written to stderr, which editors store in a log.

  --mode MODE     what happens with changes in new conversations: read-only, confirm (ask first; default) or auto (automatic)
  --model NAME    the model (default: the one you chose last, or PAWL_MODEL)
  --set NAME=VAL  how the model replies: effort=low, thinking=off, temperature=0.2 …
  --agent NAME    the agent (default: files, which works in the folder)
  --server URL    use a server; the files stay on this machine
  --token TOKEN   the token for the server; PAWL_TOKEN is safer, because process lists do not show it
`,
  needsEditor: "pawl acp is started by an editor and cannot run in a terminal. To chat here, run: pawl chat",
  malformed: (reason: string) => `The editor sent a message that cannot be read: ${reason}.`,
} as const
