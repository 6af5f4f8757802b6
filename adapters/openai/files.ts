import type { Context } from "hono"
import {
  boundLargeBodies,
  type Env,
  fileOf,
  type OpenAiFile,
  type OpenAiFileDeleted,
  type OpenAiFiles,
  type OpenAiFilesQuery,
  readUploadForm,
  type ServerPorts,
  userOf,
} from "../../core/adapter.ts"
import { failure, type UploadedFile } from "../../core/protocol/index.ts"
import { problem } from "./content.ts"

type Ports = Pick<ServerPorts, "messageFiles" | "bytesOfFiles">

/** Stores a file for messages. Its purpose is checked, because Pawl runs no batches and trains no models. */
export function uploadOpenAiFile(c: Context<Env>, { messageFiles, bytesOfFiles }: Ports): Promise<OpenAiFile> {
  return boundLargeBodies(c, async () => {
    const { file, fields } = await readUploadForm(c)
    for (const [name, value] of fields) {
      if (name !== "purpose") throw problem(`${name.slice(0, 50)}: it is not supported; send file and purpose`)
      if (!PURPOSES.has(value)) throw problem("purpose: files are for messages; send user_data, vision or assistants")
    }
    return toFile(await messageFiles.keep(userOf(c), file, bytesOfFiles))
  })
}

const PURPOSES = new Set(["user_data", "vision", "assistants"])
/** The purpose of every listed file, because the purpose of an upload is not stored. */
const PURPOSE = "user_data"

const MAX_LISTED = 200

export async function listOpenAiFiles(c: Context<Env>, ports: Ports, query: OpenAiFilesQuery): Promise<OpenAiFiles> {
  const { limit, order, after, purpose = PURPOSE } = query
  const most = Math.min(limit, MAX_LISTED)
  const found = purpose === PURPOSE ? await ports.messageFiles.list(userOf(c), { limit: most + 1, order, after }) : []
  const data = found.slice(0, most).map(toFile)
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
  return { object: "list", data, first_id, last_id, has_more: found.length > most }
}

export async function readOpenAiFile(c: Context<Env>, { messageFiles }: Ports): Promise<OpenAiFile> {
  const file = await messageFiles.find(userOf(c), fileOf(c))
  if (!file) throw failure("not_found")
  return toFile(file)
}

export async function deleteOpenAiFile(c: Context<Env>, { messageFiles }: Ports): Promise<OpenAiFileDeleted> {
  const id = fileOf(c)
  if (!(await messageFiles.remove(userOf(c), id))) throw failure("not_found")
  return { id, object: "file", deleted: true }
}

const seconds = (time: string): number => Math.floor(Date.parse(time) / 1000)

const toFile = ({ id, size, name, createdAt, expiresAt }: UploadedFile): OpenAiFile => ({
  ...{ id, object: "file", bytes: size, created_at: seconds(createdAt) },
  ...(expiresAt === null ? {} : { expires_at: seconds(expiresAt) }),
  ...{ filename: name, purpose: PURPOSE, status: "processed" },
})
