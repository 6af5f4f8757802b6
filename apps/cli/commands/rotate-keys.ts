import type { MasterKey } from "../../../core/store/people/master-keys.ts"
import { KeyFile } from "../../../core/store/people/key-file.ts"
import { countOtherKeys, rotateSecrets } from "../../../core/store/people/rotate-secrets.ts"
import type { Store } from "../../../core/store/store.ts"
import { CommandError, readOnlyFlags, UsageError } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { masterKeysOf, openConfiguredStore } from "../../../core/compose/open-store.ts"
import { reportData, warn } from "../settings/warn.ts"
import { rotateKeysText } from "../../strings/data.ts"

export const help = rotateKeysText.help

export async function run(words: readonly string[]): Promise<number> {
  readOnlyFlags(words, {})
  const config = readConfig()
  warn(config)
  reportData(config)
  await using store = await openConfiguredStore(config)
  const { masterKey, previousMasterKey } = config
  if (masterKey && !previousMasterKey) throw new UsageError(rotateKeysText.missingOldKey)
  // A key that no server has would keep the servers from starting and from storing secrets.
  if (!(await store.secrets.isOurs())) throw new CommandError(rotateKeysText.otherKey)
  if (masterKey && previousMasterKey) {
    return (await rotate(store, masterKey, previousMasterKey)) ? 0 : 1
  }
  const file = masterKeysOf(config)
  if (!(file instanceof KeyFile)) throw new CommandError(rotateKeysText.keyNotInUse)
  using rotation = await file.rotate()
  if (!(await rotate(store, rotation.current, rotation.previous))) return 1
  // No secret uses the old key, and none can be written with it.
  await rotation.end()
  return 0
}

async function rotate({ engine, secrets }: Store, to: MasterKey, from: MasterKey): Promise<boolean> {
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  print(rotateKeysText.start(from.id, to.id))
  // Writers switch to the new key first, so no secret can be written with the old key during the rotation.
  await secrets.changeOver(to)
  const unreadable = new Map<string, readonly string[]>()
  for await (const rotated of rotateSecrets(engine, { to, from })) {
    print(rotateKeysText.progress(rotated.table, rotated.done))
    unreadable.set(rotated.table, rotated.unreadable)
  }
  const left = await countOtherKeys(engine, to)
  if (left === 0) {
    print(rotateKeysText.done)
    return true
  }
  const ids = [...unreadable.values()].flat().slice(0, 20).join(", ")
  print(rotateKeysText.unreadable(left, ids))
  print(rotateKeysText.unreadableAdvice)
  return false
}
