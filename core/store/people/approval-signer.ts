import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from "node:crypto"
import type { MasterKey } from "./master-keys.ts"

/** The PKCS #8 prefix of a 32-byte Ed25519 key (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex")
const SEED_BYTES = 32

interface KeyPair {
  readonly secret: KeyObject
  /** The 32 bytes of the public key as base64url. */
  readonly publicKey: string
}

/**
 * Signs approved tool calls for the devices that execute them. The key is derived from the master key, so all nodes
 * have the same one and none is stored. During a rotation there are two, and each signs.
 */
export class ApprovalSigner {
  readonly #secrets: { allKeys(): Promise<readonly MasterKey[]> }
  /** All keys that this process has had: a device that connected before a rotation knows only the old one. */
  readonly #pairs = new Map<string, KeyPair>()

  constructor(secrets: { allKeys(): Promise<readonly MasterKey[]> }) {
    this.#secrets = secrets
  }

  /** The keys that devices verify signatures with; empty if this process has no master key. */
  async publicKeys(): Promise<string[]> {
    return (await this.#all()).map(({ publicKey }) => publicKey)
  }

  async sign(text: string): Promise<string[]> {
    return (await this.#all()).map(({ secret }) => sign(null, Buffer.from(text), secret).toString("base64url"))
  }

  async #all(): Promise<readonly KeyPair[]> {
    for (const key of await this.#secrets.allKeys()) {
      if (!this.#pairs.has(key.id)) this.#pairs.set(key.id, derivePair(key))
    }
    return [...this.#pairs.values()]
  }
}

function derivePair({ key }: MasterKey): KeyPair {
  const seed = Buffer.from(hkdfSync("sha256", key, "pawl", "pawl approvals 1", SEED_BYTES))
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" })
  const { x = "" } = createPublicKey(secret).export({ format: "jwk" })
  return { secret, publicKey: x }
}
