/** Iterate over lists that the server sends in pages. */

/** Iterate over pages with numbers, until the total is reached. */
export async function* iteratePages<R, P extends { total: number; pageSize: number }>(
  first: number,
  readPage: (page: number) => Promise<P>,
  listRecords: (page: P) => readonly R[],
): AsyncGenerator<R, void, undefined> {
  for (let number = first; ; number++) {
    const page = await readPage(number);
    const records = listRecords(page);
    yield* records;
    if (records.length === 0 || (number + 1) * page.pageSize >= page.total) {
      return;
    }
  }
}

/** Iterate over pages with a cursor, until `next` is null: any page may be empty. */
export async function* iterateCursor<R, C, P extends { next: C | null }>(
  first: C | undefined,
  readPage: (position: C | undefined) => Promise<P>,
  listRecords: (page: P) => readonly R[],
): AsyncGenerator<R, void, undefined> {
  let position: C | undefined | null = first;
  while (position !== null) {
    const page: P = await readPage(position);
    yield* listRecords(page);
    position = page.next;
  }
}
