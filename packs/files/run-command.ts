import { basename } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { z } from "zod"
import {
  answer,
  type Answer,
  type CallContext,
  defineTool,
  failed,
  failure,
  type Preview,
  type Tool,
} from "../../core/pack.ts"
import { type CommandLimits, commandLimits, limited, whyTooMuch } from "./sandbox/command-limits.ts"
import { homeOf, enterFolder } from "./file-tool.ts"
import type { Folder } from "./folder/folder.ts"
import { type Guard, MAX_PROTECTED, protectedIn, setAside } from "./protected/protected-in.ts"
import { boundProcesses } from "./sandbox/process-bound.ts"
import { type ProcessResult, runProcess } from "./sandbox/run-process.ts"
import { noSandbox, type Sandbox } from "./sandbox/sandbox.ts"
import { displayName } from "./folder/display-name.ts"
import type { InstalledSkills } from "./skills/installed-skills.ts"
import { foldersOfSkills } from "./skills/read-skill.ts"

const SECONDS = 30
const MAX_SECONDS = 600
const MARGIN_SECONDS = 15
/** Characters at the end of the folder's path that are shown. */
const MAX_ROOT = 200
/** Characters of the command in its summary. */
const MAX_SUMMED_UP = 160

export interface CommandPorts {
  readonly folder: Folder
  readonly sandbox: Sandbox
  /** The environment of the command, without secrets. */
  readonly environment: Readonly<Record<string, string>>
  /** Secrets of this process, which are removed from the output. */
  readonly secrets?: Iterable<string>
  /** Commands can read the skills that their conversation has read. */
  readonly skills?: InstalledSkills
  /** The limits of a command. Default: computed from this machine's free resources. */
  readonly limits?: CommandLimits
}

interface Command {
  readonly command: string
  readonly seconds?: number | undefined
  readonly network?: boolean | undefined
  readonly changes_protected?: boolean | undefined
  readonly outside_sandbox?: boolean | undefined
}

/** Runs a shell command in the folder. Its effects are unknown, so it is in doubt after a crash and has no undo. */
export function runCommand(given: CommandPorts): Tool {
  const { folder } = given
  return defineTool<Command>({
    name: "run_command",
    description: `Run a shell command in the work folder: tests, builds, anything the other tools do not do. It has ${SECONDS} seconds unless \`seconds\` says otherwise, no input, and no network unless \`network\` is true. Its child processes end with it. In the sandbox its home folder is one of its own, where package managers keep their caches.`,
    input: z.strictObject({
      command: z.string().min(1).max(20_000),
      seconds: z.int().min(1).max(MAX_SECONDS).optional(),
      network: z.boolean().optional().describe("It needs the network"),
      changes_protected: z
        .boolean()
        .optional()
        .describe(
          "It has to change protected files, such as .git or package.json: true for git commit and for npm install NAME",
        ),
      outside_sandbox: z
        .boolean()
        .optional()
        .describe(
          "It cannot do its work in the sandbox, where only the folder and its own home can be written. Try it there first",
        ),
    }),
    examples: ["run npm test"],
    effect: "write",
    taint: "private",
    staysIn: "folder",
    timeoutSeconds: MAX_SECONDS + MARGIN_SECONDS,
    preview(command, context) {
      enterFolder(folder, context)
      const ports = portsFor(given, command)
      const { revision } = context.approved ?? {}
      // An approved command checks the folder when it runs, a moment later, so this check is skipped.
      const guard = revision === undefined ? guardOf(ports, command) : { found: [], isComplete: wasComplete(revision) }
      return toPreview(ports, command, guard)
    },
    async run(command, context) {
      enterFolder(folder, context)
      const ports = portsFor(given, command)
      const guard = guardOf(ports, command)
      const { revision } = toPreview(ports, command, guard)
      // A command approved with the sandbox does not run without it.
      if (context.approved?.revision !== undefined && context.approved.revision !== revision)
        throw failure("row_stale", {
          noun: "command",
          id: displayName(command.command.slice(0, 200)),
          columns: "the sandbox",
        })
      return run(ports, command, { context, guard })
    },
    afterCrash: "in-doubt",
    inverse: false,
  })
}

/** A command that requests to run outside the sandbox runs with `noSandbox`. */
function portsFor(ports: CommandPorts, { outside_sandbox }: Command): CommandPorts {
  return outside_sandbox && ports.sandbox.isEnforced
    ? { ...ports, sandbox: { ...noSandbox, description: OUTSIDE } }
    : ports
}

const OUTSIDE = "OUTSIDE the sandbox, where it can read and change whatever you can, and use the network"

/** The protected paths; undefined if they cannot be enforced. */
function guardOf({ folder, sandbox }: CommandPorts, { changes_protected }: Command): Guard | undefined {
  return sandbox.isEnforced && !changes_protected ? protectedIn(folder) : undefined
}

function toPreview({ folder, sandbox }: CommandPorts, command: Command, guard: Guard | undefined): Preview {
  const { network = false, changes_protected = false } = command
  const isComplete = guard?.isComplete ?? true
  return {
    // The sandbox is named first, because a long summary is cut at its end.
    summary: `Run, ${limits(command, sandbox, isComplete)}, in ${displayName(folder.root.slice(-MAX_ROOT))}: ${beginning(command.command)}`,
    action: "destructive_update",
    commandLine: command.command,
    revision: [folder.id, sandbox.isEnforced ? "held" : "free", network, changes_protected, isComplete].join(":"),
    // Without the sandbox a command can write protected files; with the network it can send data out.
    insists: !sandbox.isEnforced || network || changes_protected || !isComplete,
  }
}

const wasComplete = (revision: string) => revision.endsWith(":true")

/** The start of a command. The person who decides sees all of it with the arguments. */
function beginning(command: string): string {
  if (command.length <= MAX_SUMMED_UP) return displayName(command)
  return `${displayName(command.slice(0, MAX_SUMMED_UP))} … (${command.length} characters in all)`
}

function limits(
  { seconds = SECONDS, network = false, changes_protected }: Command,
  sandbox: Sandbox,
  isComplete: boolean,
) {
  const wire = network ? ["WITH the network"] : sandbox.isEnforced ? ["without network"] : []
  const reach =
    changes_protected && sandbox.isEnforced ? ["where it MAY change .git, settings and what runs by itself"] : []
  const large = isComplete ? [] : [NOT_WHOLE]
  return [`at most ${seconds} s`, sandbox.description, ...reach, ...large, ...wire].join(", ")
}

const NOT_WHOLE =
  "where it MAY change some of .git, settings and what runs by itself, because the folder is too large to scan completely"

async function run(
  ports: CommandPorts,
  { command, seconds = SECONDS, network = false, changes_protected = false }: Command,
  { context, guard }: { readonly context: CallContext; readonly guard: Guard | undefined },
): Promise<Answer> {
  const { folder, sandbox, environment } = ports
  const readOnly = guard?.found.slice(0, MAX_PROTECTED).map(({ path }) => path) ?? []
  const limits = ports.limits ?? commandLimits()
  await using wrapped = await sandbox.wrap(limited(command, limits), {
    ...{ root: folder.root, network, readOnly, reads: ports.skills ? foldersOfSkills(ports.skills, context) : [] },
    git: changes_protected ? "write" : "read",
  })
  await using bound = boundProcesses(limits.processes)
  const [program = "", ...words] = bound?.enter([wrapped.program, ...wrapped.arguments]) ?? [
    wrapped.program,
    ...wrapped.arguments,
  ]
  const ended = await runProcess({
    ...wrapped,
    program,
    arguments: words,
    cwd: folder.root,
    environment: { ...environment, ...wrapped.environment },
    seconds,
    signal: context.signal,
    ...(ports.secrets ? { secrets: ports.secrets } : {}),
    whyTooMuch: (pid) => whyTooMuch(pid, limits),
  })
  const remarks = [
    ...(ended.hasSurvivingProcess ? ["A child process still has its output open and may still run."] : []),
    ...(sandbox.isEnforced ? [] : [`It ran ${sandbox.description}.`]),
    ...(guard ? [...whyReadOnly(ended, guard), ...setAside(folder, guard)] : []),
  ]
  const text = [howItEnded(ended, seconds), outputOf(ended), ...remarks.map((remark) => `[${remark}]`)]
    .filter(Boolean)
    .join("\n")
  const { code, how } = ended
  const extra = { data: { exitCode: code, how }, ...homeOf(folder, context) }
  return code === 0 && how === "ended" ? answer(text, extra) : failed(text, extra)
}

const NO_WRITE = /EROFS|read-only file system/i
const MAX_NAMED = 3

/** Explains to the model how to request a command again that failed because a path is protected. */
function whyReadOnly({ output, errors }: ProcessResult, { found }: Guard): string[] {
  const text = `${output}\n${errors}`
  if (!NO_WRITE.test(text)) return []
  const named = found.map(({ path }) => path).filter((path) => text.includes(basename(path)))
  const what = named.length > 0 ? ` (${named.slice(0, MAX_NAMED).map(displayName).join(", ")})` : ""
  return [`Protected files are read-only here${what}: run it again with changes_protected: true.`]
}

function howItEnded({ code, signal, how, tooMuch }: ProcessResult, seconds: number): string {
  if (how === "too_much") return `It took ${tooMuch} and was ended, with its child processes.`
  if (how === "timed_out")
    return `It did not end within ${seconds} s and was ended, with its child processes. run_command takes up to ${MAX_SECONDS} \`seconds\`.`
  if (how === "stopped") return "It was stopped, with its child processes."
  return signal ? `It was ended by ${signal}.` : `Exit code ${code}.`
}

function outputOf({ output, errors }: ProcessResult): string {
  // Colour codes are noise in text, for people and models.
  const [out, err] = [output, errors].map((text) => stripVTControlCharacters(text).trimEnd())
  return [out, err && `[on standard error]\n${err}`].filter(Boolean).join("\n") || "[no output]"
}
