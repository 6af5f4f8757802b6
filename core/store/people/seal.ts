import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import type { MasterKey } from "./master-keys.ts"

/** Where a secret lives and whose it is. What is sealed for one row opens in no other. */
export interface SecretRow {
  readonly table: string
  readonly id: string
  readonly person: string
}

/** A secret as it is stored, with the id of the key that opens it. */
export interface Sealed {
  readonly keyId: string
  readonly sealed: string
}

const CIPHER = "aes-256-gcm"
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts a text for its row: AES-256-GCM, with a fresh nonce each time. */
export function seal({ id: keyId, key }: MasterKey, row: SecretRow, text: string): Sealed {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(bindingOf(row, keyId))
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
  return { keyId, sealed: Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64") }
}

/** The text again; undefined where it was changed, was made for another row, or by another key. */
export function unseal({ id: keyId, key }: MasterKey, row: SecretRow, { sealed }: Sealed): string | undefined {
  const bytes = Buffer.from(sealed, "base64")
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)]
  const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(bindingOf(row, keyId))
  try {
    const body = cipher.setAuthTag(tag).update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
    return Buffer.concat([body, cipher.final()]).toString("utf8")
  } catch {
    return undefined
  }
}

/** JSON, because fields that were merely joined could be cut elsewhere and mean another row. */
function bindingOf({ table, id, person }: SecretRow, keyId: string): Buffer {
  return Buffer.from(JSON.stringify(["pawl 1", keyId, table, id, person]))
}
