/** @type {import('jest').Config} */
const config = {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // They need a browser: npm run test:browser.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/browser/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': ['@swc/jest', { swcrc: true }] },
  testEnvironment: 'node',
  testSequencer: '<rootDir>/test/longest-first.mjs',
  testRunner: '<rootDir>/test/native-runner.mjs',
  globalSetup: '<rootDir>/test/start-services.ts',
  globalTeardown: '<rootDir>/test/stop-services.ts',
  // Against hangs: even on a machine that does much else nothing takes as long.
  testTimeout: 60_000,
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.data/'],
};
export { config as default };
