import type { MasterKey } from "../../store/people/master-keys.ts"
import { KeyFile } from "../../store/people/key-file.ts"
import { countOthers, rotateSecrets } from "../../store/people/rotate-secrets.ts"
import type { Store } from "../../store/store.ts"
import { CommandError, readOnlyFlags } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { masterKeysOf, openConfiguredStore } from "../../compose/open-store.ts"
import { warn } from "../settings/warn.ts"

export const help = `Usage: pawl rotate-keys

Puts every stored secret under a new master key. Works while servers run, and where it was broken off, the next one goes
on from there.

With the key in the data folder (the default) this makes the new key, and gives the old one up when nothing needs it.

With the key in the environment, make the new one with \`openssl rand -base64 32\` and
  1. start every server with MASTER_ENCRYPTION_KEY=<new> and MASTER_ENCRYPTION_KEY_PREVIOUS=<old>,
  2. run this with the same two,
  3. take MASTER_ENCRYPTION_KEY_PREVIOUS away when you next start them.
`

const OTHER_KEY =
  "Nothing was changed: the database is under a master key that is not here. Run this with the settings of its servers: with " +
  "MASTER_ENCRYPTION_KEY where they have it, and the key that they had until now as MASTER_ENCRYPTION_KEY_PREVIOUS, or with their PAWL_DATA."

export async function run(words: readonly string[]): Promise<number> {
  readOnlyFlags("rotate-keys", words, {})
  const config = readConfig()
  warn(config)
  await using store = await openConfiguredStore(config)
  const { masterKey, previousMasterKey } = config
  if (masterKey && !previousMasterKey) throw new CommandError(`The old key is missing.\n\n${help}`)
  // Changed over to a key that no server has, the database would keep them from starting, and from storing anything secret.
  if (!(await store.secrets.isOurs())) throw new CommandError(OTHER_KEY)
  if (masterKey && previousMasterKey) {
    return (await rotate(store, masterKey, previousMasterKey)) ? 0 : 1
  }
  const file = masterKeysOf(config)
  if (!(file instanceof KeyFile)) throw new CommandError("The key of the data folder is not in use.")
  using rotation = await file.rotate()
  if (!(await rotate(store, rotation.current, rotation.previous))) return 1
  // Nothing is under the old key any more, and nothing can be written under it.
  await rotation.end()
  return 0
}

async function rotate({ engine, secrets }: Store, to: MasterKey, from: MasterKey): Promise<boolean> {
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  say(`from the key ${from.id} to the key ${to.id}`)
  // First nobody writes under the old key any more, then what is under it is carried over: none can slip through.
  await secrets.changeOver(to)
  const unreadable = new Map<string, readonly string[]>()
  for await (const rotated of rotateSecrets(engine, { to, from })) {
    say(`${rotated.table}: ${rotated.done} done`)
    unreadable.set(rotated.table, rotated.unreadable)
  }
  const left = await countOthers(engine, to)
  if (left === 0) {
    say("Every secret is under the new key.")
    return true
  }
  const ids = [...unreadable.values()].flat().slice(0, 20).join(", ")
  say(`${left} secrets cannot be opened with the old key and stay as they are: ${ids}`)
  say("Have them saved again or removed, and run this again; until then the old key is kept.")
  return false
}
