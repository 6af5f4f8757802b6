import { type ReactNode, useEffect } from "react"
import { Plain } from "../parts/plain.tsx"
import { Store, useStore } from "../state/store.ts"

type Draw = (tex: string, isBlock: boolean) => ReactNode

/** What draws formulas is most of a hundred kilobytes, so it comes when the first formula does. */
const loaded = new Store<{ readonly draw: Draw } | undefined>(undefined)
let asked = false

interface FormulaProps {
  /** Empty where it is not drawn. */
  readonly tex: string
  readonly isBlock: boolean
  readonly source: string
}

/** A formula that a model has written; as its source until it can be drawn, and where it cannot. */
export function Formula({ tex, isBlock, source }: FormulaProps) {
  const found = useStore(loaded)
  useEffect(() => {
    if (tex === "" || asked) return
    asked = true
    import("./draw-formula.ts").then(
      ({ drawFormula }) => loaded.set({ draw: drawFormula }),
      () => (asked = false), // its source can be read; the next formula tries again
    )
  }, [tex])
  const drawn = tex === "" ? undefined : found?.draw(tex, isBlock)
  if (!drawn) {
    return (
      <span className="formula-source">
        <Plain text={source} />
      </span>
    )
  }
  if (!isBlock) return drawn
  // Wider than the page, it is scrolled where it stands.
  return (
    <span className="formula-block" tabIndex={0} role="group" aria-label="Formula">
      {drawn}
    </span>
  )
}
