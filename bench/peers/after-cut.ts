import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TerminalAgent } from "./agents.ts"
import type { Provider } from "./provider.ts"
import type { RecordedRequest } from "./read-request.ts"

export interface Aftermath {
  /** Whether each call in the history that the model receives next has exactly one result. */
  readonly history: string
  /** The text that the model receives about the interrupted command. */
  readonly toldOfCommand: string
  /** The text that it prints for the user. */
  readonly toldPerson: string
  readonly commandBegan: number
  /** Whether the reply is requested again automatically, before the user's next message is sent. */
  readonly replyIsPickedUp: boolean
  /** Whether the text that the user has seen is still in the history. */
  readonly halfReplyIsKept: boolean
}

const CONTINUE_TEXT = "Go on, please."

/** Kills an agent during a command and during a reply, starts it again, and inspects its next request to the model. */
export async function afterCut(agent: TerminalAgent, bin: string, provider: Provider): Promise<Aftermath> {
  const inCommand = await story(agent, bin, provider, "asks-for-a-command")
  const inReply = await story(agent, bin, provider, "breaks-off")
  return {
    ...(inCommand.asked ? judge(inCommand.asked) : { history: "the model is not asked", toldOfCommand: "nothing" }),
    toldPerson: inCommand.said,
    commandBegan: inCommand.began,
    replyIsPickedUp: inReply.asked !== undefined && !inReply.asked.raw.includes(CONTINUE_TEXT),
    halfReplyIsKept: inReply.asked?.said.includes("One, two") ?? false,
  }
}

function judge({ calls, results }: RecordedRequest): Pick<Aftermath, "history" | "toldOfCommand"> {
  const open = calls.filter((id) => !results.has(id)).length
  return {
    history: calls.length === 0 ? "the call is gone" : open === 0 ? "whole" : `${open} call without a result`,
    toldOfCommand: [...results.values()].join(" | ").slice(0, 300) || "nothing",
  }
}

async function story(agent: TerminalAgent, bin: string, provider: Provider, which: Provider["story"]) {
  const home = await mkdtemp(join(tmpdir(), "peer-home-"))
  const folder = await mkdtemp(join(tmpdir(), "peer-work-"))
  const began = join(folder, "began.txt")
  await agent.prepare?.(home, provider.url)
  const mark = `peer-${process.pid}-${Math.random().toString(36).slice(2)}`
  const environment = {
    ...{ PATH: process.env.PATH ?? "", LANG: "C.UTF-8", TERM: "dumb", HOME: home, PEER_MARK: mark },
    ...agent.environment(provider.url),
  }
  const start = (args: readonly string[]) =>
    spawn(bin, [...args], { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] })
  try {
    provider.begin(which, "echo began >> began.txt; sleep 60; echo ended >> ended.txt")
    const first = start([...agent.ask, "Do the job."])
    const said: string[] = []
    first.stderr.on("data", (chunk) => said.push(String(chunk)))
    first.stdout.on("data", (chunk) => said.push(String(chunk)))
    const ended = once(first, "exit").then(() => "ended" as const)
    const underWay = which === "breaks-off" ? provider.brokenOff : until(() => existsSync(began))
    if ((await Promise.race([underWay, ended])) === "ended") {
      throw new Error(`ended before anything was under way: ${said.join("").slice(-500)}`)
    }
    await killMarked(mark)
    await ended
    const before = provider.asked.length
    const second = start([...agent.goOn, CONTINUE_TEXT])
    const words: string[] = []
    second.stderr.on("data", (chunk) => words.push(String(chunk)))
    second.stdout.on("data", (chunk) => words.push(String(chunk)))
    const heard = once(second, "close")
    await Promise.race([once(second, "exit"), until(() => provider.asked.length > before)])
    await killMarked(mark)
    await heard // its last output is read after it has exited
    const asked: RecordedRequest | undefined = provider.asked[before]
    const lines = existsSync(began) ? (await readFile(began, "utf8")).trim().split("\n").length : 0
    return { asked, began: lines, said: words.join("").trim().slice(0, 300) }
  } finally {
    await killMarked(mark)
    await Promise.all([home, folder].map((path) => rm(path, { recursive: true, force: true, maxRetries: 5 })))
  }
}

/** Kills all processes that it has started at once, as in a power failure. */
async function killMarked(mark: string): Promise<void> {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")
    if (!environment.includes(mark)) continue
    try {
      process.kill(Number(pid), "SIGKILL")
    } catch {
      // It has already exited.
    }
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 50))
}
