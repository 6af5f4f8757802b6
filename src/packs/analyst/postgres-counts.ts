/** A result may have 8 MB, so nobody misses more. */
const MOST = 1_000_000
/** The product of all counts that are larger than this is bounded: one may stand inside another, by way of a subquery. */
const SMALL = 100
const MOST_TOGETHER = 10_000_000

/**
 * Functions that make something huge out of a number. Their value is computed before the query begins, and copied several
 * times while it is planned: a backend that copies a gigabyte hears of no cancel until it has. So the number has to be
 * seen to be small.
 */
const COUNT_AT: Readonly<Record<string, number>> = { repeat: 1, lpad: 1, rpad: 1, array_fill: 1 }

/** Looks at calls one by one, and remembers how much they make together. */
export class PostgresCounts {
  #together = 1

  /** What is wrong with the count of this call; undefined where nothing is, or it has none. */
  problemOf(name: string, args: readonly unknown[]): string | undefined {
    const place = COUNT_AT[name]
    if (place === undefined) return undefined
    const most = mostOf(args[place])
    if (most === undefined)
      return `the count of ${name} has to be a number up to ${MOST}; write least(…, ${MOST}) around an expression`
    if (most > SMALL) this.#together *= most
    return most <= MOST && this.#together <= MOST_TOGETHER ? undefined : `${name} would make a value that is too large`
  }
}

/** The largest that an expression can be, where that can be read off it. */
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
  /** A zero is written as an empty object. */
  readonly A_Const?: { readonly ival?: { readonly ival?: number }; readonly fval?: { readonly fval: string } }
  readonly TypeCast?: { readonly arg: unknown }
  readonly MinMaxExpr?: { readonly op: string; readonly args: readonly unknown[] }
  readonly A_ArrayExpr?: { readonly elements?: readonly unknown[] }
}
