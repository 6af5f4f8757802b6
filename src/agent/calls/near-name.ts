/** A longer name is no slip of anybody's, and is compared with nothing. */
const LONGEST = 64
/** Of more names than this the first are looked at. */
const MAX_NAMES = 2000

/** The name that was probably meant, where exactly one is near: a letter or two away, or alike but for case and punctuation. */
export function nearName(said: string, names: Iterable<string>): string | undefined {
  const plain = toPlain(said)
  if (plain === "" || said.length > LONGEST) return undefined
  const most = plain.length < 4 ? 1 : Math.min(3, Math.floor(plain.length / 3))
  let best: { readonly distance: number; readonly names: string[] } = { distance: most + 1, names: [] }
  let looked = 0
  for (const name of names) {
    if (++looked > MAX_NAMES) break
    if (name.length > LONGEST) continue
    const distance = distanceOf(plain, toPlain(name), most)
    if (distance < best.distance) best = { distance, names: [name] }
    else if (distance === best.distance && distance <= most) best.names.push(name)
  }
  return best.names.length === 1 ? best.names[0] : undefined
}

/** ` Did you mean x?`, or nothing. */
export function didYouMean(said: string, names: Iterable<string>): string {
  const near = nearName(said, names)
  return near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`
}

/** The same for `dueDate`, `due_date` and `Due date`. */
export const toPlain = (name: string): string => name.toLowerCase().replaceAll(/[\s_.-]/g, "")

/** How many letters have to be added, dropped, changed, or swapped with their neighbour; more than `most` is `most + 1`. */
function distanceOf(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + cost)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) least = Math.min(least, before[j - 2]! + 1)
      next.push(least)
    }
    ;[before, row] = [row, next]
  }
  return row[b.length]!
}
