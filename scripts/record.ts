/**
 * Records docs/images/recording.svg: the real `pawl chat` in a real shell, killed with SIGKILL in the middle of a reply and in the
 * middle of a command. Only the model's replies are prepared. `node scripts/record.ts [file]`
 */
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TerminalRecording, toSvg } from "./terminal-recording.ts"

const root = join(import.meta.dirname, "..")
const file = process.argv[2] ?? join(root, "docs", "images", "recording.svg")

const REPLY = `A journal only ever grows, so an entry that is on disk stays on disk:

1. Pawl appends each step before it takes the next one.
2. A crash can lose only the step in progress.
3. After a restart Pawl reads the journal and continues from the last entry.

Nothing has to be repaired, because nothing was overwritten.`

const REQUEST = "Publish version 1.4.0."
const COMMAND = "./publish.sh 1.4.0"
const IN_DOUBT_CAPTION = "Restarted: Pawl cannot know whether the command finished, so it asks"

const provider = await openProvider()
const home = await mkdtemp(join(tmpdir(), "pawl-"))
const [project, bin] = [join(home, "shop"), join(home, "bin")]
await Promise.all([mkdir(project), mkdir(bin)])
await script(join(bin, "pawl"), `exec "${process.execPath}" "${join(root, "bin", "pawl.js")}" "$@"`)
await script(join(project, "publish.sh"), "echo Uploading $1... > upload.log; sleep 60; echo Published.")
await writeFile(
  join(home, "providers.json"),
  JSON.stringify([
    {
      name: "demo",
      kind: "openai",
      baseUrl: provider.url,
      models: [{ id: "model", contextTokens: 128_000, features: ["tools"], price: { input: 0, output: 0 } }],
    },
  ]),
)
const shell = new TerminalRecording("bash", ["--noprofile", "--norc"], {
  columns: 88,
  rows: 24,
  cwd: project,
  env: {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    PS1: "\\[\\e[J\\e[32m\\]$\\[\\e[0m\\] ",
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    PAWL_DATA: join(home, "data"),
    PAWL_PROVIDERS: join(home, "providers.json"),
    PAWL_MODEL: "demo/model",
  },
})
try {
  await shell.shows(/\$/)
  await trustFolder()
  shell.frames.length = 0
  await killInReply()
  await shell.type("clear")
  await killInCommand()
  await writeFile(
    file,
    toSvg(shell, {
      title: "Pawl is killed in the middle of a reply and of a command, and continues",
      isStill: (caption) => caption === IN_DOUBT_CAPTION,
    }),
  )
} finally {
  await shell.close()
  provider.close()
  await rm(home, { recursive: true, force: true })
}

/** Answers the question that Pawl asks once for each folder. */
async function trustFolder(): Promise<void> {
  await shell.type("pawl chat")
  await shell.shows(/y or n/)
  await shell.type("y")
  await shell.shows(/^ask first/m)
  await shell.type("/quit")
  await shell.shows(/\$$/)
  await shell.type("clear")
  await shell.shows(/^\$$/)
}

async function killInReply(): Promise<void> {
  shell.caption = "kill -9 in the middle of a reply"
  await shell.type("pawl chat")
  await shell.shows(/^ask first/m)
  await shell.hold(500)
  await shell.type("Why does an append-only journal survive a crash?")
  await shell.shows(/2\. Pawl appends|can lose only/)
  await kill()
  await shell.show("Restarted: the run continues by itself")
  await shell.type("pawl chat --continue")
  await shell.shows(/nothing was overwritten\.[^]*^>/m)
  await shell.hold(3500)
  await shell.type("/quit")
  await shell.shows(/\$$/)
}

async function killInCommand(): Promise<void> {
  shell.caption = "kill -9 in the middle of a command"
  await shell.type("pawl chat")
  await shell.shows(/^ask first/m)
  await shell.type(REQUEST)
  await shell.shows(/yes \/ no/)
  await shell.hold(2000)
  await shell.type("yes")
  await commandStarted()
  await shell.hold(1500)
  await kill()
  await shell.show(IN_DOUBT_CAPTION)
  await shell.type("pawl chat --continue")
  await shell.shows(/retry \/ done/)
  await shell.hold(4000)
  await shell.type("done")
  await shell.shows(/was published[^]*^>/m)
  await shell.hold(2500)
}

/** The screen shows a command before it has started, so this waits for the command's first effect. */
async function commandStarted(): Promise<void> {
  for (let tries = 0; !existsSync(join(project, "upload.log")); tries++) {
    if (tries === 300) throw new Error(`The command did not start: ${COMMAND}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Kills Pawl and its processes, as a power failure does. The shell survives and reports it. */
async function kill(): Promise<void> {
  for (const pid of descendants(shell.pid).reverse()) process.kill(pid, "SIGKILL")
  await shell.shows(/Killed/)
  await shell.hold(1500)
}

function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)
  return children.flatMap((child) => [child, ...descendants(child)])
}

async function script(path: string, text: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${text}\n`)
  await chmod(path, 0o755)
}

/** A local provider that speaks chat completions and sends the replies of the story, word by word. */
async function openProvider() {
  const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  if (request.method !== "POST") return void response.writeHead(404).end()
  const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { role: string }[] }
  response.writeHead(200, { "content-type": "text/event-stream" })
  if (messages.at(-1)?.role === "tool") return reply(response, "Version 1.4.0 was published.")
  if (!JSON.stringify(messages).includes(REQUEST)) return reply(response, REPLY)
  const input = JSON.stringify({ command: COMMAND })
  const call = { index: 0, id: "call_1", type: "function", function: { name: "run_command", arguments: input } }
  send(response, { role: "assistant", tool_calls: [call] })
  end(response, "tool_calls")
}

async function reply(response: ServerResponse, text: string): Promise<void> {
  for (const word of text.split(/(?<=\s)/)) {
    if (response.destroyed) return
    send(response, { content: word })
    await new Promise((resolve) => setTimeout(resolve, 70))
  }
  end(response, "stop")
}

function send(response: ServerResponse, delta: object, finish_reason: string | null = null): void {
  const choices = [{ index: 0, delta, finish_reason }]
  const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "model", choices }
  response.write(`data: ${JSON.stringify(chunk)}\n\n`)
}

function end(response: ServerResponse, reason: string): void {
  send(response, {}, reason)
  response.end("data: [DONE]\n\n")
}
