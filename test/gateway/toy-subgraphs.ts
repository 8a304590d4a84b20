import DataLoader from 'dataloader';
import {
  Arg,
  Args,
  Ctx,
  Directive,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  Subscription,
  registerEnumType,
} from 'type-graphql';
import { ProblemError } from '../../schema/problems.ts';
import { assertAction } from '../../schema/actions.ts';
import type { RequestContext } from '../../schema/principal.ts';
import {
  PageArguments,
  connectionOf,
  connectionType,
  isNumberKey,
  parsePage,
  placesOf,
  Rows,
  type Connection,
} from '../../platform/graph/connection.ts';
import { perRequest } from '../../platform/graph/request-context.ts';
import { CentsScalar, DateScalar, DateTimeScalar, JsonScalar, UrlScalar } from '../../platform/graph/scalars.ts';
import { buildSubgraph, type Subgraph } from '../../platform/graph/subgraph-schema.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../platform/graph/trust-type.ts';
import type { TrustEnvelope } from '../../schema/trust-envelope.ts';
import { recordEnvelope } from '../../services/trust/envelope.ts';
import type { EventSource } from './event-source.ts';

/** A reference cycle between decorated classes dies in the temporal dead zone unless the metadata is kept out of it. */
type Ref<T> = T;

const Genre = { SHORT_STORY: 'short_story', NOVEL: 'novel' } as const;
registerEnumType(Genre, { name: 'Genre' });

const NOW = new Date('2026-02-01T08:30:00.125Z');
const trust = () => recordEnvelope(1, NOW, '2026-02-01');

// --- books: owns Book; its events come from the source ---

@ObjectType()
@Directive('@key(fields: "id")')
class Book {
  @Field(() => ID) id!: string;
  @Field() title!: string;
  @Field(() => Genre) genre!: (typeof Genre)[keyof typeof Genre];
  @Field(() => CentsScalar) priceCents!: number;
  @Field(() => DateTimeScalar) createdAt!: Date;
  @Field(() => DateScalar) published!: string;
  @Field(() => JsonScalar) sales!: unknown;
  @Field(() => UrlScalar) page!: URL;
  @Field(() => AuthorStub) author!: Ref<AuthorStub>;
}

@ObjectType('Author')
@Directive('@key(fields: "id")')
class AuthorStub {
  @Field(() => ID) id!: string;
}

@ObjectType()
class BookSold {
  @Field(() => Int) sequence!: number;
  @Field(() => Book) book!: Book;
}

@InputType()
class AddBookInput {
  @Field() title!: string;
  @Field(() => CentsScalar) priceCents!: number;
  @Field(() => Genre, { nullable: true }) genre?: string;
}

@ObjectType()
class AddBookPayload {
  @Field(() => Book) book!: Book;
  @Field(() => TrustEnvelopeType) trust!: TrustEnvelope;
}

const BookConnection = connectionType('Book', () => Book);

function bookWith(id: string): Book {
  return {
    id,
    title: `Title ${id}`,
    genre: 'short_story',
    priceCents: 4_294_967_296,
    createdAt: NOW,
    published: '2026-01-31',
    sales: { google_ads: 3, nested: { a_b: [1, null] } },
    page: new URL('https://shop.example/books'),
    author: { id: id === 'b99' ? 'unknown' : `a${Number(id.slice(1)) % 3}` },
  };
}

const BOOKS = Array.from({ length: 50 }, (_, index) => bookWith(`b${index}`));

async function booksSubgraph(events: EventSource): Promise<Subgraph> {
  @Resolver()
  class BookResolver {
    @Query(() => Book)
    book(@Arg('id', () => ID) id: string): Book {
      if (!/^b\d+$/.test(id))
        throw new ProblemError('resource_not_found', `There is no book ${id}.`, {
          code: 'unknown_book',
          param: 'path:id',
        });
      return bookWith(id);
    }

    @Query(() => BookConnection)
    async books(@Args(() => PageArguments) args: PageArguments): Promise<Connection<Book>> {
      const page = parsePage(args, { isKey: isNumberKey });
      const total = BOOKS.length;
      const { limit, offset } = await placesOf(page, total, Number);
      return connectionOf(Rows.at(BOOKS.slice(offset, offset + limit), { offset, total }, page), page, total, trust());
    }

    @Query(() => String, { nullable: true })
    broken(@Arg('how') how: string): string {
      switch (how) {
        case 'error':
          throw new Error('password=hunter2');
        case 'text':
          throw 'hunter2 as text';
        case 'null':
          return undefined as unknown as string;
        default:
          throw new ProblemError('data_source_unavailable', 'The source cannot be read.', {
            errors: [{ param: '/how', code: 'odd', message: 'odd' }],
            retryAfterS: 7,
          });
      }
    }

    @Query(() => String)
    caller(@Ctx() context: RequestContext): string {
      return JSON.stringify([
        context.requestId,
        assertAction(context.principal, 'attribution:read').accountId,
        context.apiVersion,
      ]);
    }

    @Mutation(() => AddBookPayload)
    addBook(@Arg('input', () => AddBookInput) input: AddBookInput): AddBookPayload {
      return { book: { ...bookWith('b76'), title: input.title, priceCents: input.priceCents }, trust: trust() };
    }

    @Subscription(() => BookSold, {
      subscribe: ({ args, context }: { args: { shop: string }; context: RequestContext }) => {
        assertAction(context.principal, 'attribution:read');
        return events.subscribe(args.shop);
      },
    })
    bookSold(@Root() event: { sequence: number; bookId: string }, @Arg('shop') _shop: string): BookSold {
      if (event.bookId === 'broken') throw new Error('password=hunter2');
      return { sequence: event.sequence, book: bookWith(event.bookId) };
    }
  }
  return buildSubgraph({ name: 'books', resolvers: [BookResolver] });
}

// --- people: owns Author and adds to Book ---

@ObjectType()
@Directive('@key(fields: "id")')
class Author {
  @Field(() => ID) id!: string;
  @Field() name!: string;
}

@ObjectType('Book')
@Directive('@key(fields: "id")')
class RatedBook {
  @Field(() => ID) id!: string;
  @Field(() => Int) rating!: number;
  @Field(() => TrustEnvelopeType) trust!: TrustEnvelope;
}

/** Every batch of author ids that was read, in order. */
export type AuthorReads = string[][];

async function peopleSubgraph(reads: AuthorReads): Promise<Subgraph> {
  const authorLoader = perRequest(
    () =>
      new DataLoader<string, Author | null>(async (ids) => {
        reads.push([...ids]);
        return ids.map((id) => (id === 'unknown' ? null : Object.freeze({ id, name: `Author ${id}` })));
      }),
  );

  @Resolver(() => RatedBook)
  class RatedBookResolver {
    @FieldResolver(() => Int)
    rating(@Root() book: RatedBook): number {
      return Number(book.id.slice(1)) % 5;
    }

    @FieldResolver(() => TrustEnvelopeType)
    trust(): TrustEnvelope {
      return trust();
    }
  }

  @Resolver()
  class AuthorResolver {
    @Query(() => Author, { nullable: true })
    author(@Arg('id', () => ID) id: string, @Ctx() context: RequestContext): Promise<Author | null> {
      return authorLoader(context).load(id);
    }
  }
  return buildSubgraph({
    name: 'people',
    resolvers: [AuthorResolver, RatedBookResolver],
    orphanedTypes: [RatedBook],
    references: { Author: (reference, context) => authorLoader(context).load(reference.id) },
  });
}

export async function toySubgraphs(events: EventSource, reads: AuthorReads = []): Promise<Subgraph[]> {
  return [await booksSubgraph(events), await peopleSubgraph(reads)];
}
