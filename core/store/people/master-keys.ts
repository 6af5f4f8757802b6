import { createHash, createSecretKey, type KeyObject } from "node:crypto"

/** A key that encrypts secrets. Its bytes are in an object that no log and no error can print. */
export interface MasterKey {
  /** Identifies a key without revealing anything about it. */
  readonly id: string
  readonly key: KeyObject
}

/** The keys of this process. */
export interface MasterKeys {
  /** The key for a database without secrets. */
  first(): Promise<MasterKey>
  /** Undefined if the key is missing, also after reading the file again. */
  find(id: string): Promise<MasterKey | undefined>
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

/** Keys from the environment. */
export function fixedKeys(first: MasterKey, ...others: readonly MasterKey[]): MasterKeys {
  const all = new Map([first, ...others].map((key) => [key.id, key]))
  return { first: async () => first, find: async (id) => all.get(id), all: async () => [...all.values()] }
}
