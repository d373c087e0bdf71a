import { accountOf, labelsOf } from '../knative/names.ts';
import { hostAccount } from './rbac.ts';

const api = 'admissionregistration.k8s.io/v1';
const name = accountOf('remote-provider');
const metadata = { name, labels: labelsOf('remote-provider') };
const accounts = [hostAccount, accountOf('discovery')].join('|');

/**
 * RBAC cannot say "in the namespaces of tenants", nor which Secrets may be made: whoever may make any, and read one
 * of a name, could make itself the token of any account. This says it.
 */
export const providerPolicy: readonly object[] = [
  {
    apiVersion: api,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['secrets', 'namespaces'],
          },
        ],
      },
      matchConditions: [
        {
          name: 'by-bamel',
          // Whatever namespace a kustomization puts them into.
          expression: `request.userInfo.username.matches('^system:serviceaccount:[^:]+:(${accounts})$')`,
        },
      ],
      validations: [
        {
          expression:
            "request.resource.resource != 'namespaces' || object.metadata.name.startsWith('liqo-tenant-')",
          message: 'only namespaces of tenants, liqo-tenant-…',
        },
        {
          expression:
            "request.resource.resource != 'secrets' || (request.namespace.startsWith('liqo-tenant-') && object.metadata.name == 'liqo-nonce' && (!has(object.type) || object.type == 'Opaque'))",
          message: 'only nonces, and only in namespaces of tenants',
        },
      ],
    },
  },
  {
    apiVersion: api,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: name, validationActions: ['Deny'] },
  },
];
