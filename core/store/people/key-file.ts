import { randomBytes } from "node:crypto"
import { link, mkdir, open, readFile, rename, unlink } from "node:fs/promises"
import { dirname } from "node:path"
import { failure } from "../../protocol/errors.ts"
import { asMasterKey, MASTER_KEY_BYTES, type MasterKey, type MasterKeys, toMasterKey } from "./master-keys.ts"
import { lockFile } from "../engine/open-sqlite.ts"

interface Content {
  readonly current: MasterKey
  /** The key before it, while secrets may still be encrypted with it. */
  readonly previous: MasterKey | undefined
}

/**
 * The master key in a file of the data folder: a line of base64, and a second one during a rotation. It is created when
 * the first secret needs it, and only a rotation overwrites it, which stores the old key too.
 */
export class KeyFile implements MasterKeys {
  readonly path: string
  #known: Content | undefined

  constructor(path: string) {
    this.path = path
  }

  async first(): Promise<MasterKey> {
    return (await this.#read()).current
  }

  async find(id: string): Promise<MasterKey | undefined> {
    const known = findKey(this.#known, id)
    if (known) return known
    // Another process may have rotated the key. Does not create a key.
    this.#known = (await readContent(this.path)) ?? this.#known
    return findKey(this.#known, id)
  }

  async all(): Promise<readonly MasterKey[]> {
    const { current, previous } = await this.#read()
    return previous ? [current, previous] : [current]
  }

  /**
   * Creates a new key next to the old one, or continues an interrupted rotation. Until `end` the file contains both.
   */
  async rotate(): Promise<Rotation> {
    const { current: old } = await this.#read()
    const lock = lockFile(`${this.path}-lock`)
    if (!lock) throw failure("no_master_key", { problem: "another `pawl rotate-keys` is at work" })
    try {
      // Reads again under the lock.
      let content = await this.#read()
      if (!content.previous) {
        const bytes = randomBytes(MASTER_KEY_BYTES)
        content = { current: asMasterKey(bytes), previous: content.current }
        await replaceFile(this.path, toText(content))
      }
      const { current, previous = old } = content
      return {
        current,
        previous,
        end: () => replaceFile(this.path, toText({ current, previous: undefined })),
        [Symbol.dispose]: () => lock.close(),
      }
    } catch (error) {
      lock.close()
      throw error
    }
  }

  async #read(): Promise<Content> {
    this.#known = (await readContent(this.path)) ?? (await this.#create())
    return this.#known
  }

  async #create(): Promise<Content> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 })
    const text = toText({ current: asMasterKey(randomBytes(MASTER_KEY_BYTES)), previous: undefined })
    await writeDraft(this.path, text, async (draft) => {
      // A hard link fails if the file exists, so that two processes that start at once use the same key.
      await link(draft, this.path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error
      })
      await unlink(draft)
    })
    const content = await readContent(this.path)
    if (!content) throw failure("no_master_key", { problem: `${this.path} is gone again` })
    return content
  }
}

export interface Rotation extends Disposable {
  readonly current: MasterKey
  readonly previous: MasterKey
  end(): Promise<void>
}

const findKey = (content: Content | undefined, id: string): MasterKey | undefined =>
  [content?.current, content?.previous].find((key) => key?.id === id)

async function readContent(path: string): Promise<Content | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw failure("no_master_key", { problem: `${path} cannot be read (${error.code})` })
  })
  if (text === undefined) return undefined
  const keys = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [toMasterKey(line.trim())]))
  const [current, previous] = keys
  if (!current || keys.length > 2 || keys.includes(undefined)) {
    throw failure("no_master_key", { problem: `${path} does not hold a key; put back the one from your backup` })
  }
  return { current, previous }
}

const toText = ({ current, previous }: Content): string =>
  [current, previous].flatMap((key) => (key ? [`${key.key.export().toString("base64")}\n`] : [])).join("")

const replaceFile = (path: string, text: string): Promise<void> =>
  writeDraft(path, text, (draft) => rename(draft, path))

/** The content is durable before it gets its name, and the name before it is used. */
async function writeDraft(path: string, text: string, publish: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}`
  const file = await open(draft, "wx", 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } catch (error) {
    await unlink(draft).catch(() => {}) // half a key is useless, for instance after a full disk
    throw error
  } finally {
    await file.close()
  }
  await publish(draft)
  const folder = await open(dirname(path), "r")
  // Windows cannot sync a folder, and does not need to.
  await folder.sync().catch(() => {})
  await folder.close()
}
