import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import pty from "@lydell/node-pty"
import { median, type Numbers } from "../meters.ts"

const LONGEST_MS = 60_000
const END_OF_INPUT = "\x04"

/** W9: `pawl chat` from its start to the first prompt, in a real pseudo-terminal. */
export async function promptStart(launcher: string, folder: string, starts: number): Promise<Numbers> {
  await leaveInGoodOrder(launcher, folder)
  return await medianOf(starts, () => prompt(launcher, folder))
}

/** Its floor: an empty Node program in the same terminal. */
export const emptyStart = (folder: string, starts: number): Promise<Numbers> => medianOf(starts, () => nothing(folder))

async function medianOf(starts: number, start: () => Promise<number>): Promise<Numbers> {
  const times: number[] = []
  while (times.length < starts) times.push(await start())
  return { promptMs: median(times) }
}

async function nothing(folder: string): Promise<number> {
  const from = performance.now()
  await within(open(["-e", "0"], folder).ended)
  return performance.now() - from
}

async function prompt(launcher: string, folder: string): Promise<number> {
  const from = performance.now()
  const { shows, kill } = open([launcher, "chat", "--trust"], folder)
  try {
    await within(shows("> "))
    return performance.now() - from
  } finally {
    await kill()
  }
}

/** Runs it once: only a process that exits normally writes its compile cache. */
async function leaveInGoodOrder(launcher: string, folder: string): Promise<void> {
  const { shows, type, ended, kill } = open([launcher, "chat", "--trust"], folder)
  try {
    await within(shows("/help"))
    type(END_OF_INPUT)
    await within(ended)
  } finally {
    await kill()
  }
}

function open(words: readonly string[], folder: string) {
  const env = { PATH: process.env.PATH ?? "", HOME: folder, TERM: "xterm-256color", PAWL_DATA: join(folder, "data") }
  const started = pty.spawn(process.execPath, [...words], { cols: 80, rows: 24, cwd: folder, env })
  let output = ""
  let isOver = false
  const listeners = new Set<() => void>()
  const ended = new Promise<void>((resolve) => {
    started.onExit(() => {
      isOver = true
      resolve()
    })
  })
  started.onData((data) => {
    output += data
    for (const listen of listeners) listen()
  })
  const shows = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => output.includes(text) && resolve()
      listeners.add(look)
      look()
    })
  const kill = async () => {
    if (!isOver) started.kill("SIGKILL")
    await ended
  }
  return { shows, ended, kill, type: (text: string) => started.write(text) }
}

async function within(work: Promise<void>): Promise<void> {
  const stopped = new AbortController()
  const late = sleep(LONGEST_MS, "late", { signal: stopped.signal, ref: false }).catch(() => "stopped")
  const first = await Promise.race([work.then(() => "done"), late])
  stopped.abort()
  if (first === "late") throw new Error("the prompt did not come")
}
