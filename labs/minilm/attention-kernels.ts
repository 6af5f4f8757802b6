import { type WasmCode, f32, f32x4, i32, type MultiplyAdd, v128 } from "./wasm/instructions.ts"
import { type Kernel, kernel, type Local, repeat } from "./wasm/module.ts"
import { horizontalSums } from "./horizontal-sums.ts"

/** Rows and columns per step. */
export const TILE = 4
const FLOATS = 16

/**
 * Multiplies rows by columns in floats, inside attention. Parameters: rows and their stride in bytes, columns and their
 * stride, output and its stride, number of rows, number of columns (a multiple of 4), length of each in bytes (a
 * multiple of 16).
 */
export const floatProductKernel = (tile: number, multiplyAdd: MultiplyAdd): Kernel =>
  kernel("floatProduct", 9, ({ parameters, locals }) => {
    const [rows, rowBytes, columns, columnBytes, into, intoBytes, rowCount, columnCount, length] = parameters as Nine
    const [row, column, at, out] = locals("i32", 4) as [Local, Local, Local, Local]
    const [a, b] = [locals("i32", tile), locals("i32", TILE)]
    const sums = Array.from({ length: tile }, () => locals("v128", TILE))
    const left = locals("v128", tile)
    const right = locals("v128", 1)[0]!
    const follow = (pointers: readonly Local[], first: WasmCode, bytes: WasmCode) =>
      pointers.flatMap((each, i) => each.set(i === 0 ? first : i32.add(pointers[i - 1]!.get, bytes)))
    return [
      repeat(row, { below: rowCount.get, step: tile }, [
        follow(b, columns.get, columnBytes.get),
        out.set(into.get),
        repeat(column, { below: columnCount.get, step: TILE }, [
          follow(a, rows.get, rowBytes.get),
          sums.flat().flatMap((sum) => sum.set(f32x4.const(0))),
          repeat(at, { below: length.get, step: FLOATS }, [
            ...left.map((each, r) => each.set(v128.load(a[r]!.get))),
            ...a.map((each) => each.step(FLOATS)),
            ...b.flatMap((each, c) => [
              right.set(v128.load(each.get)),
              each.step(FLOATS),
              ...left.map((x, r) => sums[r]![c]!.set(multiplyAdd(x.get, right.get, sums[r]![c]!.get))),
            ]),
          ]),
          at.set(out.get),
          ...sums.flatMap((each) => [v128.store(at.get, horizontalSums(each, f32x4.add)), at.step(intoBytes.get)]),
          out.step(FLOATS),
          // Each column was read to its end: the next four start after the last one.
          follow(b, i32.add(i32.sub(b[TILE - 1]!.get, length.get), columnBytes.get), columnBytes.get),
        ]),
        rows.step(i32.mul(rowBytes.get, i32.const(tile))),
        into.step(i32.mul(intoBytes.get, i32.const(tile))),
      ]),
    ]
  })

/** Transposes rows. Parameters: rows and their stride in bytes, output and its stride, number and length of rows. */
export const transposeKernel = (): Kernel =>
  kernel("turn", 6, ({ parameters, locals }) => {
    const [rows, rowBytes, into, intoBytes, count, length] = parameters as [Local, Local, Local, Local, Local, Local]
    const [row, at, from, out] = locals("i32", 4) as [Local, Local, Local, Local]
    return [
      repeat(row, { below: count.get }, [
        from.set(rows.get),
        out.set(into.get),
        repeat(at, { below: length.get }, [
          f32.store(out.get, f32.load(from.get)),
          from.step(4),
          out.step(intoBytes.get),
        ]),
        rows.step(rowBytes.get),
        into.step(4),
      ]),
    ]
  })

type Nine = [Local, Local, Local, Local, Local, Local, Local, Local, Local]
