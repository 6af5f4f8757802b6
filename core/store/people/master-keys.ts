import { createHash, createSecretKey, type KeyObject } from "node:crypto"

/** A key that secrets are encrypted with. Its bytes are in an object that no log and no error can print. */
export interface MasterKey {
  /** Tells keys apart, and nothing about the key. */
  readonly id: string
  readonly key: KeyObject
}

/** The keys this process has. */
export interface MasterKeys {
  /** The one for a database without secrets. */
  first(): Promise<MasterKey>
  /** Undefined for a key that is not here, also after looking again. */
  find(id: string): Promise<MasterKey | undefined>
  /** All keys that this process has. */
  all(): Promise<readonly MasterKey[]>
}

export const MASTER_KEY_BYTES = 32

/** 32 bytes as base64 or hex; undefined for any other text. */
export function toMasterKey(text: string): MasterKey | undefined {
  const bytes = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, "hex")
    : /^[\w+/-]{43}=?$/.test(text)
      ? Buffer.from(text, "base64")
      : undefined
  return bytes?.length === MASTER_KEY_BYTES ? asMasterKey(bytes) : undefined
}

export function asMasterKey(bytes: Buffer): MasterKey {
  const id = createHash("sha256").update("pawl master key id\0").update(bytes).digest("hex").slice(0, 16)
  return { id, key: createSecretKey(bytes) }
}

/** Keys that somebody else looks after: the environment's. */
export function givenKeys(first: MasterKey, ...others: readonly MasterKey[]): MasterKeys {
  const all = new Map([first, ...others].map((key) => [key.id, key]))
  return { first: async () => first, find: async (id) => all.get(id), all: async () => [...all.values()] }
}
