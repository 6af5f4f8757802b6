/**
 * Work that is done one at a time, and once more where it was asked for meanwhile: what is under way may have begun too
 * early to see what it was asked for. The promise is kept when all of that is done.
 */
export function onceMore(work: () => Promise<void>): () => Promise<void> {
  let isWanted = false
  let working: Promise<void> | undefined
  const round = async () => {
    try {
      while (isWanted) {
        isWanted = false
        await work().catch((error: unknown) => {
          if (!isWanted) throw error // otherwise it is tried for whoever asked meanwhile, and for those before them
        })
      }
    } finally {
      // In one step with the last look at what is wanted: in a `finally` of the promise it would come a moment later, and
      // whoever asked in between would be told that it is under way when nobody works any more.
      working = undefined
    }
  }
  return () => {
    isWanted = true
    return (working ??= round())
  }
}
