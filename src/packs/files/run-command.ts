import { z } from "zod"
import { answer, type Answer, type CallContext, defineTool, failed, type Tool } from "../../agent/tool.ts"
import { homeOf, requireHome } from "./file-tool.ts"
import type { Folder } from "./folder.ts"
import { phrase } from "./phrase.ts"
import { protectedIn, setAside } from "./protected-in.ts"
import { type Ended, runProcess } from "./run-process.ts"
import type { Sandbox } from "./sandbox.ts"
import { shown } from "./shown.ts"

const SECONDS = 30
const MOST_SECONDS = 600
const MARGIN_SECONDS = 15

export interface CommandPorts {
  readonly folder: Folder
  readonly sandbox: Sandbox
  /** All that a command gets to see of ours: nothing that could be a secret. */
  readonly environment: Readonly<Record<string, string>>
}

interface Command {
  readonly command: string
  readonly seconds?: number | undefined
  readonly network?: boolean | undefined
  readonly changes_protected?: boolean | undefined
}

/** Runs a shell command in the folder. Nobody can tell what one does, so it is in doubt after a crash and has no undo. */
export function runCommand(ports: CommandPorts): Tool {
  const { folder, sandbox } = ports
  return defineTool<Command>({
    name: "run_command",
    description: `Run a shell command in the work folder: tests, builds, anything the other tools do not do. It has ${SECONDS} seconds unless \`seconds\` says otherwise, no input, and no network unless \`network\` is true. What it starts ends with it.`,
    input: z.strictObject({
      command: z.string().min(1).max(20_000),
      seconds: z.int().min(1).max(MOST_SECONDS).optional(),
      network: z.boolean().optional().describe("It needs the network"),
      changes_protected: z
        .boolean()
        .optional()
        .describe("It has to change what is always asked about, such as .git: true for git commit"),
    }),
    phrases: [
      phrase("run(?: the)?(?: command)?:? (?<command>.+)", "run npm test", (said) => ({ command: said("command") })),
    ],
    effect: "write",
    brings: "private",
    timeoutSeconds: MOST_SECONDS + MARGIN_SECONDS,
    preview(command, context) {
      requireHome(folder, context)
      return {
        summary: `Run ${shown(command.command)} in ${shown(folder.root)}, ${limits(command, sandbox)}`,
        action: "destructive_update",
        revision: folder.id,
        // Without walls a command reaches all that is always asked about; with the network, everybody.
        insists: !sandbox.holds || command.network === true || command.changes_protected === true,
      }
    },
    async run(command, context) {
      requireHome(folder, context)
      return run(ports, command, context)
    },
    afterCrash: "in-doubt",
    inverse: false,
  })
}

function limits({ seconds = SECONDS, network = false, changes_protected }: Command, sandbox: Sandbox): string {
  const wire = network ? ["WITH the network"] : sandbox.holds ? ["without network"] : []
  const reach = changes_protected && sandbox.holds ? ["where it MAY change .git, settings and what runs by itself"] : []
  return [`at most ${seconds} s`, sandbox.says, ...reach, ...wire].join(", ")
}

async function run(
  ports: CommandPorts,
  { command, seconds = SECONDS, network = false, changes_protected = false }: Command,
  context: CallContext,
): Promise<Answer> {
  const { folder, sandbox, environment } = ports
  const guards = sandbox.holds && !changes_protected
  const before = guards ? protectedIn(folder) : []
  const wrapped = sandbox.wrap(["/bin/sh", "-c", command], { root: folder.root, network, readOnly: before })
  const ended = await runProcess({ ...wrapped, cwd: folder.root, environment, seconds, signal: context.signal })
  const aside = guards ? setAside(folder, before) : []
  const remarks = [
    ...(sandbox.holds ? [] : [`It ran ${sandbox.says}.`]),
    ...aside.map(
      ({ path, to }) => `It made ${shown(path)}, which is always asked about: it was put aside as ${shown(to)}.`,
    ),
  ]
  const text = [howItEnded(ended, seconds), outputOf(ended), ...remarks.map((remark) => `[${remark}]`)]
    .filter(Boolean)
    .join("\n")
  const { code, how } = ended
  const extra = { data: { exitCode: code, how }, ...homeOf(folder, context) }
  return code === 0 && how === "ended" ? answer(text, extra) : failed(text, extra)
}

function howItEnded({ code, signal, how }: Ended, seconds: number): string {
  if (how === "timed_out")
    return `It did not end within ${seconds} s and was ended, with all that it had started. run_command takes up to ${MOST_SECONDS} \`seconds\`.`
  if (how === "stopped") return "It was stopped, with all that it had started."
  return signal ? `It was ended by ${signal}.` : `Exit code ${code}.`
}

function outputOf({ output, errors }: Ended): string {
  const [out, err] = [output.trimEnd(), errors.trimEnd()]
  return [out, err && `[on standard error]\n${err}`].filter(Boolean).join("\n") || "[no output]"
}
