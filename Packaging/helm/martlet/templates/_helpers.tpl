{{/* SPDX-License-Identifier: Apache-2.0 */}}

{{- define "martlet.selector" -}}
app.kubernetes.io/name: martlet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "martlet.labels" -}}
{{ include "martlet.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "martlet.ports" -}}
{{- $ports := dict "production" 2197 "development" 2198 -}}
{{- $result := dict -}}
{{- range .Values.environments -}}
{{- $_ := set $result . (get $ports . | required (printf "environments: %s is neither production nor development" .)) -}}
{{- end -}}
{{ toJson $result }}
{{- end }}

{{- define "martlet.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - name: PGPASSWORD
    valueFrom:
      secretKeyRef: {{- toYaml .Values.databaseSecret | nindent 8 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
resources: {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - {name: configuration, mountPath: /etc/martlet, readOnly: true}
  - {name: state, mountPath: /var/lib/martlet}
{{- end }}
