import { own } from "../../../core/program.ts"

/** A result has at most 8 MB, so larger numbers are not needed. */
const MAX = 1_000_000
/** The limit for all such calls of a statement together, because calls can be nested. */
const MAX_TOGETHER = 10_000_000

/**
 * Functions whose result size depends on a number. Their value is computed before the query starts, and copied several
 * times during planning. A backend that copies a gigabyte ignores cancel requests until it is done. So the number must
 * be a small constant.
 */
const COUNTED: Readonly<Record<string, { readonly at: number; readonly multiplies: boolean }>> = {
  repeat: { at: 1, multiplies: true },
  array_fill: { at: 1, multiplies: true },
  // The result has exactly this length.
  lpad: { at: 1, multiplies: false },
  rpad: { at: 1, multiplies: false },
}

/** The size of a call's result: `most`, or `most` times the size of its argument. */
export interface Bound {
  readonly name: string
  readonly most: number
  readonly multiplies: boolean
}

/** The bound of a call; undefined if its size does not depend on a number; a text if the call is refused. */
export function boundOf(name: string, args: readonly unknown[]): Bound | string | undefined {
  if (name === "format") return widthOf(args[0])
  const counted = own(COUNTED, name)
  if (!counted) return undefined
  const { at, multiplies } = counted
  const most = mostOf(args[at])
  if (most === undefined)
    return `the count of ${name} has to be a number up to ${MAX}; write least(…, ${MAX}) around an expression`
  return most <= MAX ? { name, most, multiplies } : tooLarge(name)
}

/** Returns the problem of a statement whose calls generate too much in total. */
export const problemOfLength = ({ name }: Bound, length: number): string | undefined =>
  length <= MAX_TOGETHER ? undefined : tooLarge(name)

const tooLarge = (name: string) => `${name} would make a value that is too large`

/** `format('%100s', …)` pads to the width in its format. */
function widthOf(node: unknown): Bound | string {
  const { A_Const: constant } = (node ?? {}) as Expression
  const text = constant?.sval?.sval
  if (text === undefined) return "the first argument of format has to be a plain text"
  if (/%[-\d$]*\*/.test(text)) return "format takes a width as a number only, not as *"
  const widths = Array.from(text.matchAll(/%(?:\d+\$)?-?(\d+)/g), ([, width]) => Number(width))
  const most = Math.max(0, ...widths)
  return most <= MAX
    ? {
        name: "format",
        most: Math.max(
          1,
          widths.reduce((sum, width) => sum + width, 0),
        ),
        multiplies: false,
      }
    : tooLarge("format")
}

/** The largest value of an expression, if it is visible in the text. */
function mostOf(node: unknown): number | undefined {
  const { A_Const: constant, TypeCast: cast, MinMaxExpr: choice, A_ArrayExpr: list } = (node ?? {}) as Expression
  if (constant)
    return constant.ival ? (constant.ival.ival ?? 0) : constant.fval ? Number(constant.fval.fval) : undefined
  if (cast) return mostOf(cast.arg)
  if (choice?.op === "IS_LEAST") {
    const known = choice.args.map(mostOf).filter((most) => most !== undefined)
    return known.length > 0 ? Math.min(...known) : undefined
  }
  if (!list) return undefined
  const sizes = (list.elements ?? []).map(mostOf)
  return sizes.includes(undefined) ? undefined : sizes.reduce<number>((product, size) => product * (size ?? 1), 1)
}

interface Expression {
  /** A zero is an empty object. */
  readonly A_Const?: {
    readonly ival?: { readonly ival?: number }
    readonly fval?: { readonly fval: string }
    readonly sval?: { readonly sval?: string }
  }
  readonly TypeCast?: { readonly arg: unknown }
  readonly MinMaxExpr?: { readonly op: string; readonly args: readonly unknown[] }
  readonly A_ArrayExpr?: { readonly elements?: readonly unknown[] }
}
