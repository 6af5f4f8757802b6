import { DatabaseSync } from "node:sqlite"

/** A SQLite file with a few customers. */
export function makeShop(file: string): void {
  const db = new DatabaseSync(file)
  db.exec(`CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT);
    CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id), cents INTEGER);
    INSERT INTO customer VALUES (1, 'Ada', 'London'), (2, 'Bo', NULL);
    INSERT INTO purchase VALUES (1, 1, 1250), (2, 1, 99)`)
  db.close()
}
