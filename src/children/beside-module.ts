/** A script beside the module of this address, in the checkout and in a bundle alike, with the same ending. */
export function besideModule(address: string, name: string): URL {
  return new URL(`./${name}${address.slice(address.lastIndexOf("."))}`, address)
}
