import { pageLinks } from '../../rest-adapter/links.ts';

function pagesOf(page: number, perPage: number, total: number): Record<string, number> {
  const links = pageLinks('https://api.example/v1/x', new URLSearchParams(), {
    page,
    per_page: perPage,
    total,
    total_pages: Math.ceil(total / perPage),
  });
  return Object.fromEntries(
    [...links.matchAll(/page=(\d+)>; rel="(\w+)"/g)].map(([, target, relation]) => [relation, Number(target)]),
  );
}

test('no link leads beyond the row that pages may reach', () => {
  expect(pagesOf(1, 100, 250_000)).toEqual({ first: 1, next: 2, last: 1000 });
  expect(pagesOf(1000, 100, 250_000)).toEqual({ first: 1, prev: 999, last: 1000 });
  expect(pagesOf(14_285, 7, 100_000)).toEqual({ first: 1, prev: 14_284, last: 14_285 });
});

test('an empty list has one page', () => {
  expect(pagesOf(1, 20, 0)).toEqual({ first: 1, last: 1 });
});
