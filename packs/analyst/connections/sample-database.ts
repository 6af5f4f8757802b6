import { randomBytes } from "node:crypto"
import { access, mkdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

/** The path of the sample in connections. */
export const SAMPLE_PATH = "shared/sample-shop.db"
export const SAMPLE_NAME = "Sample shop"

/**
 * Creates the sample database if it is missing. An existing file is not changed, because an operator may have put it
 * there.
 */
export async function makeSample(root: string): Promise<void> {
  const file = join(root, SAMPLE_PATH)
  if (
    await access(file).then(
      () => true,
      () => false,
    )
  )
    return
  await mkdir(join(root, "shared"), { recursive: true })
  // Two simultaneous requests each create the same file under a temporary name, so readers find a whole file or none.
  const draft = `${file}.${randomBytes(6).toString("hex")}.new`
  try {
    fillSample(draft)
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}

const SCHEMA = `
  CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, country TEXT NOT NULL, joined_on DATE NOT NULL);
  CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, category TEXT NOT NULL, price_cents INTEGER NOT NULL);
  CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer (id), bought_on DATE NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('paid', 'sent', 'returned')));
  CREATE TABLE purchase_line (id INTEGER PRIMARY KEY, purchase_id INTEGER NOT NULL REFERENCES purchase (id),
    product_id INTEGER NOT NULL REFERENCES product (id), quantity INTEGER NOT NULL, price_cents INTEGER NOT NULL);
  CREATE INDEX purchase_customer ON purchase (customer_id);
  CREATE INDEX purchase_line_purchase ON purchase_line (purchase_id);`

const PRODUCTS: Readonly<Record<string, readonly (readonly [name: string, cents: number])[]>> = {
  Coffee: [
    ["Morning Roast", 1190],
    ["Night Shift", 1290],
    ["Island Decaf", 1350],
    ["Quay Espresso", 1450],
    ["Forest Blend", 1090],
  ],
  Tea: [
    ["Green Terrace", 890],
    ["Smoky Pine", 990],
    ["Garden Mint", 690],
    ["White Bud", 1890],
  ],
  Cups: [
    ["Blue Mug", 1400],
    ["Travel Cup", 2200],
    ["Espresso Pair", 1950],
    ["Glass Bowl", 1250],
  ],
  Machines: [
    ["Hand Grinder", 4900],
    ["Moka Pot", 3900],
    ["Pour-over Set", 5600],
    ["Lever Machine", 38_900],
  ],
  Sweets: [
    ["Almond Biscuit", 450],
    ["Dark Bar", 520],
    ["Salt Caramel", 610],
    ["Ginger Bites", 480],
  ],
}
const CITIES: readonly (readonly [city: string, country: string])[] = [
  ["Lisbon", "Portugal"],
  ["Porto", "Portugal"],
  ["Ghent", "Belgium"],
  ["Bruges", "Belgium"],
  ["Turin", "Italy"],
  ["Bari", "Italy"],
  ["Leipzig", "Germany"],
  ["Bremen", "Germany"],
  ["Galway", "Ireland"],
  ["Aarhus", "Denmark"],
]
const FIRST = ["Ines", "Tom", "Mila", "Jonas", "Aoife", "Luca", "Freja", "Noor", "Rui", "Elsa", "Otto", "Bea"]
const LAST = ["Alves", "Peeters", "Rossi", "Krause", "Byrne", "Holm", "Moreau", "Lind", "Costa", "Weber"]
const CUSTOMERS = 120
const PURCHASES = 1600
const FIRST_DAY = Date.UTC(2024, 0, 1)
/** The days of the sample, up to the end of June 2026. */
const DAYS = 912

/** Inserts the same rows on every machine. */
function fillSample(file: string): void {
  const db = new DatabaseSync(file)
  const below = dice(20_240_101)
  const day = (n: number) => new Date(FIRST_DAY + n * 86_400_000).toISOString().slice(0, 10)
  try {
    db.exec(`PRAGMA journal_mode = DELETE; BEGIN; ${SCHEMA}`)
    const customer = db.prepare("INSERT INTO customer VALUES (?, ?, ?, ?, ?)")
    for (let id = 1; id <= CUSTOMERS; id++) {
      const [city, country] = CITIES[below(CITIES.length)] ?? ["Lisbon", "Portugal"]
      const name = `${FIRST[id % FIRST.length]} ${LAST[Math.floor(id / FIRST.length) % LAST.length]}`
      customer.run(id, name, city, country, day(below(400)))
    }
    const products = Object.entries(PRODUCTS).flatMap(([category, items]) =>
      items.map(([name, cents]) => ({ category, name, cents })),
    )
    const product = db.prepare("INSERT INTO product VALUES (?, ?, ?, ?)")
    products.forEach(({ name, category, cents }, index) => product.run(index + 1, name, category, cents))
    const purchase = db.prepare("INSERT INTO purchase VALUES (?, ?, ?, ?)")
    const line = db.prepare(
      "INSERT INTO purchase_line (purchase_id, product_id, quantity, price_cents) VALUES (?, ?, ?, ?)",
    )
    for (let id = 1; id <= PURCHASES; id++) {
      // More purchases towards the end, so that a chart shows growth.
      const when = Math.floor(DAYS * Math.sqrt((id - below(40) / 40) / PURCHASES))
      purchase.run(id, 1 + below(CUSTOMERS), day(Math.min(when, DAYS - 1)), STATES[below(STATES.length)] ?? "paid")
      const lines = 1 + below(3)
      for (let n = 0; n < lines; n++) {
        const index = below(products.length * 3) % products.length
        const cents = products[index]?.cents ?? 0
        line.run(id, index + 1, cents > 10_000 ? 1 : 1 + below(4), cents)
      }
    }
    db.exec("COMMIT")
  } finally {
    db.close()
  }
}

const STATES = ["paid", "sent", "sent", "sent", "sent", "sent", "sent", "sent", "sent", "returned"]

/** Pseudo-random numbers that are always the same (Park and Miller's generator). */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}
