import { nkeys } from "@nats-io/transport-node"

const UNBOUNDED = { subs: -1, data: -1, payload: -1 }

/** A NATS configuration that admits one account, a credentials file of that account, and one of another account. */
export function newCredentials(): { readonly configuration: string; readonly known: string; readonly strange: string } {
  const [operator, account] = [nkeys.createOperator(), nkeys.createAccount()]
  const ofOperator = signed(operator, operator.getPublicKey(), { type: "operator" })
  const limits = { ...UNBOUNDED, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 }
  const ofAccount = signed(operator, account.getPublicKey(), { type: "account", limits })
  return {
    configuration: `operator: ${ofOperator}\nresolver: MEMORY\nresolver_preload: { ${account.getPublicKey()}: ${ofAccount} }\n`,
    known: credentialsBy(account),
    strange: credentialsBy(nkeys.createAccount()),
  }
}

function credentialsBy(account: nkeys.KeyPair): string {
  const user = nkeys.createUser()
  const claim = signed(account, user.getPublicKey(), { type: "user", pub: {}, sub: {}, ...UNBOUNDED })
  const seed = new TextDecoder().decode(user.getSeed())
  return [
    `-----BEGIN NATS USER JWT-----\n${claim}\n------END NATS USER JWT------`,
    `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  ].join("\n\n")
}

/** A JWT in the format of NATS. */
function signed(issuer: nkeys.KeyPair, subject: string, claims: object): string {
  const nats = { version: 2, ...claims }
  const body = { iat: Math.floor(Date.now() / 1000), iss: issuer.getPublicKey(), sub: subject, name: "test", nats }
  const text = [{ typ: "JWT", alg: "ed25519-nkey" }, body].map((part) => encoded(JSON.stringify(part))).join(".")
  return `${text}.${encoded(issuer.sign(new TextEncoder().encode(text)))}`
}

const encoded = (part: string | Uint8Array): string => Buffer.from(part).toString("base64url")
