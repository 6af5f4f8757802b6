import { execFile } from "node:child_process"
import { request } from "node:http"
import { join } from "node:path"
import { promisify } from "node:util"
import { post } from "./post.ts"
import { type ProbedProcess, startProbed } from "./probed-process.ts"

/** The server that the command starts, at a provider on this machine, as one person asks it. */
export interface Served extends AsyncDisposable {
  readonly process: ProbedProcess
  /** From the start of the process until it listened. */
  readonly startMs: number
  get(path: string): Promise<unknown>
  open(): Promise<string>
  /** The answer. */
  say(conversation: string, text: string): Promise<string>
}

export interface ServedOptions {
  readonly launcher: string
  readonly data: string
  readonly provider: string
  readonly flags?: readonly string[]
}

const environmentOf = ({ data, provider }: ServedOptions) => ({
  ...{ PAWL_DATA: data, PAWL_PORT: "0", HOME: data, PAWL_RATE_LIMIT: "0" },
  ...{ LM_STUDIO_ENDPOINT: provider, PAWL_MODEL: "qwen", PAWL_RUN_SECONDS: "600" },
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
    get: (path) => get(`${server.url}${path}`, headers),
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

function get(url: string, headers: Record<string, string>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request(url, { agent: false, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (piece: string) => (text += piece))
      response.on("end", () => {
        if (response.statusCode === 200) resolve(JSON.parse(text))
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
