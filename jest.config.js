/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/scripts/jest-environment.js',
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2024',
          parser: { syntax: 'typescript' },
          experimental: { keepImportAttributes: true },
        },
      },
    ],
  },
  extensionsToTreatAsEsm: ['.ts'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Long stories run with `npm run test:all` only.
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/real/',
    ...(process.env.BAMEL_TEST_ALL ? [] : ['\\.long\\.test\\.ts$']),
  ],
  reporters: ['default', '<rootDir>/scripts/skip-reporter.js'],
  testTimeout: 120_000,
  // Most tests wait more than they work: leaving a core free, as Jest does, would only make them take longer.
  maxWorkers: '100%',
};
