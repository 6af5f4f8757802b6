import { execFile } from "node:child_process"
import { request } from "node:http"
import { join } from "node:path"
import { promisify } from "node:util"
import { post } from "./post.ts"
import { type ProbedProcess, startProbed } from "./probed-process.ts"

/** The server that the command starts, with a local provider, used by one person. */
export interface Served extends AsyncDisposable {
  readonly process: ProbedProcess
  /** The time from the start of the process until it listened. */
  readonly startMs: number
  get(path: string): Promise<unknown>
  open(): Promise<string>
  /** Sends a message and returns the answer. */
  say(conversation: string, text: string): Promise<string>
  /** Sends a POST request and returns the answer. */
  post(path: string, body: object): Promise<unknown>
  erase(path: string): Promise<void>
}

export interface ServedOptions {
  readonly launcher: string
  readonly data: string
  readonly provider: string
  readonly flags?: readonly string[]
  readonly proposalMinutes?: number
}

const environmentOf = ({ data, provider, proposalMinutes }: ServedOptions) => ({
  ...{ PAWL_DATA: data, PAWL_PORT: "0", HOME: data, PAWL_RATE_LIMIT: "0" },
  ...{ LM_STUDIO_ENDPOINT: provider, PAWL_MODEL: "qwen", PAWL_RUN_SECONDS: "600" },
  ...(proposalMinutes === undefined ? {} : { PAWL_PROPOSAL_MINUTES: String(proposalMinutes) }),
})

export async function createToken(options: ServedOptions): Promise<string> {
  const env = { PATH: process.env.PATH, ...environmentOf(options) }
  const words = [options.launcher, "token", "create", "--user", "ada"]
  return (await promisify(execFile)(process.execPath, words, { env })).stdout.trim()
}

export async function serve(options: ServedOptions, token: string): Promise<Served> {
  const begun = performance.now()
  const flags = options.flags ? { flags: options.flags } : {}
  const server = await startProbed({
    script: options.launcher,
    args: ["serve"],
    environment: environmentOf(options),
    ...flags,
  })
  const startMs = performance.now() - begun
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/json",
    "content-type": "application/json",
  }
  const ask = async (path: string, body: object) =>
    JSON.parse(await post(`${server.url}${path}`, JSON.stringify(body), headers)) as Answered
  return {
    process: server,
    startMs,
    get: async (path) => JSON.parse(await send(`${server.url}${path}`, "GET", headers)) as unknown,
    post: ask,
    erase: async (path) => void (await send(`${server.url}${path}`, "DELETE", headers)),
    open: async () => (await ask("/api/conversations", {})).id,
    async say(conversation, text) {
      const { run, messages } = await ask(`/api/conversations/${conversation}/messages`, { text })
      if (run?.status !== "completed") throw new Error(`a run ended as ${run?.status}`)
      return messages?.at(-1)?.content ?? ""
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

interface Answered {
  readonly id: string
  readonly run?: { readonly status: string }
  readonly messages?: { readonly content: string }[]
}

function send(url: string, method: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { method, agent: false, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (piece: string) => (text += piece))
      response.on("end", () => {
        if (response.statusCode && response.statusCode < 300) resolve(text)
        else reject(new Error(`${url} answered ${response.statusCode}: ${text.slice(0, 300)}`))
      })
    })
      .on("error", reject)
      .end()
  })
}

export const startProvider = (characters: number, deltaCharacters: number, seconds: number): Promise<ProbedProcess> =>
  startProbed({
    script: join(import.meta.dirname, "provider.ts"),
    args: [characters, deltaCharacters, seconds].map(String),
  })
