//! Requests about resources.

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode, header};
use serde_json::{Value, json};

use super::{body::ResponseBody, respond};
use crate::{
    codec::{Body, encode, parse_body},
    registry::{Caller, Deleted, Page, Part, PatchFormat, Request, Target, Written},
    resource::Backing,
    server::Shared,
    table::{IncludeObject, partial, table},
    wire::{
        negotiate::{Accepted, Shape, Syntax, Transform, accepted, body_syntax},
        options::{DeleteOptions, ListOptions, WriteOptions},
        query::Query,
        request::ResourcePath,
        status::{ApiError, Result, deleted},
    },
};

/// A request about a resource, ready to be answered.
pub(super) struct ResourceRequest<'a> {
    pub(super) server: &'a Shared,
    pub(super) verb: &'static str,
    pub(super) path: &'a ResourcePath,
    pub(super) query: &'a Query,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: Bytes,
    pub(super) caller: Caller<'a>,
}

impl ResourceRequest<'_> {
    fn header(&self, name: header::HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    fn accepted(&self, shape: Shape) -> Result<Accepted> {
        accepted(self.header(header::ACCEPT), self.query.flag("pretty"), shape)
    }

    /// What the path names, if it is served.
    fn target(&self) -> Result<Target> {
        let path = self.path;
        let table = self.server.registry.resources();
        let resource = table
            .get(&path.group, &path.resource)
            .ok_or_else(ApiError::unknown_path)?;
        let version = resource
            .served_version(&path.version)
            .ok_or_else(ApiError::unknown_path)?;
        let target = Target::new(resource, &version.name, &path.namespace, &path.name)
            .ok_or_else(ApiError::unknown_path)?;
        if resource.is_namespaced() && path.namespace.is_empty() && !path.name.is_empty() {
            return Err(ApiError::unknown_path());
        }
        if !resource.is_namespaced() && !path.namespace.is_empty() && path.resource != "namespaces" {
            return Err(ApiError::unknown_path());
        }
        match path.subresource.as_str() {
            "" => Ok(target),
            "status" if version.status => Ok(target.part(Part::Status)),
            "scale" if version.scale.is_some() => Ok(target.part(Part::Scale)),
            "finalize" if resource.store_name == "core/namespaces" => Ok(target.part(Part::Finalize)),
            name if resource.extra_subresources.iter().any(|it| it.name == name) => Ok(target),
            _ => Err(ApiError::unknown_path()),
        }
    }

    pub(super) async fn answer(self) -> Result<Response<ResponseBody>> {
        let target = self.target()?;
        let mut response = if target.part == Part::Main && !self.path.subresource.is_empty() {
            self.extra(&target).await?
        } else if target.resource.backing == Backing::Review {
            self.review(&target)?
        } else {
            self.stored(&target).await?
        };
        if let Some(warning) = &target.version().deprecation {
            let text = if warning.is_empty() {
                format!("{} {} is deprecated", target.api_version(), target.resource.kind)
            } else {
                warning.clone()
            };
            respond::warn(response.headers_mut(), &[text]);
        }
        Ok(response)
    }

    async fn stored(&self, target: &Target) -> Result<Response<ResponseBody>> {
        let resource = &target.resource;
        let is_collection = self.path.name.is_empty();
        match (self.verb, target.part) {
            ("get", _) => self.get(target),
            ("list", Part::Main) => self.list(target),
            ("watch", Part::Main) => self.watch(target),
            ("create", Part::Main) if is_collection => self.create(target).await,
            ("update", _) if !is_collection => self.update(target).await,
            ("patch", Part::Main | Part::Status | Part::Scale) if !is_collection => self.patch(target).await,
            ("delete", Part::Main) => self.delete(target).await,
            ("deletecollection", Part::Main) => self.delete_collection(target).await,
            (verb, _) => Err(ApiError::method_not_allowed(
                &resource.group,
                &resource.plural,
                verb,
            )),
        }
    }

    /// Subresources of built-in kinds beside status and scale.
    async fn extra(&self, target: &Target) -> Result<Response<ResponseBody>> {
        let resource = &target.resource;
        let body = || -> Result<Value> {
            Ok(parse_body(&self.body, body_syntax(self.header(header::CONTENT_TYPE))?)?.value)
        };
        let answer = match (self.verb, self.path.subresource.as_str()) {
            ("create", "token") => self.server.service_account_token(target, body()?)?,
            ("create", "eviction") => {
                let options = DeleteOptions::parse(self.query, body()?.get("deleteOptions"))?;
                self.server.registry.evict(target, self.caller, &options).await?;
                json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 })
            }
            (verb, _) => {
                return Err(ApiError::method_not_allowed(
                    &resource.group,
                    &resource.plural,
                    verb,
                ));
            }
        };
        Ok(respond::value(
            StatusCode::CREATED,
            self.accepted(Shape::Fixed)?,
            &answer,
        ))
    }

    fn review(&self, target: &Target) -> Result<Response<ResponseBody>> {
        let resource = &target.resource;
        if self.verb != "create" {
            return Err(ApiError::method_not_allowed(
                &resource.group,
                &resource.plural,
                self.verb,
            ));
        }
        let accepted = self.accepted(Shape::Object)?;
        let body = parse_body(&self.body, body_syntax(self.header(header::CONTENT_TYPE))?)?;
        let mut warnings = Vec::new();
        let options = WriteOptions::parse(self.query, "CreateOptions")?;
        let codec = self.server.registry.codec(resource);
        let review = codec.decode(target.version(), body, options.field_validation, &mut warnings)?;
        let answer = self.server.review(target, self.caller.identity, review)?;
        Ok(self.object(StatusCode::CREATED, accepted, target, answer))
    }

    fn get(&self, target: &Target) -> Result<Response<ResponseBody>> {
        let accepted = self.accepted(Shape::Object)?;
        if let Some(text) = self.query.get("resourceVersion") {
            let asked: u64 = text
                .parse()
                .map_err(|_| ApiError::bad_request(format!("invalid resource version {text:?}")))?;
            let current = self.server.registry.store().revision();
            if asked > current {
                return Err(ApiError::resource_version_too_large(asked, current));
            }
        }
        if accepted.transform == Transform::None {
            let bytes = self.server.registry.get_encoded(target)?;
            let response = respond::encoded(StatusCode::OK, accepted, bytes.clone());
            return Ok(if accepted.syntax == Syntax::Json && !accepted.pretty {
                respond::compressed(self.headers, response, &bytes)
            } else {
                response
            });
        }
        let object = self.server.registry.get(target)?;
        let include = IncludeObject::parse(self.query.get("includeObject"))?;
        Ok(self.transformed(StatusCode::OK, accepted, include, target, object))
    }

    fn list_options(&self, target: &Target, watch: bool) -> Result<ListOptions> {
        ListOptions::parse(self.query, &target.version().selectable_fields, watch)
    }

    fn list(&self, target: &Target) -> Result<Response<ResponseBody>> {
        let accepted = self.accepted(Shape::List)?;
        let options = self.list_options(target, false)?;
        let page = self.server.registry.list(target, &options)?;
        let metadata = list_metadata(&page);
        let codec = self.server.registry.codec(&target.resource);
        let version = target.version();
        if accepted.transform == Transform::None {
            let bytes = encoded_list(target, &page, |record| codec.served(record, version))?;
            let response = respond::encoded(StatusCode::OK, accepted, bytes.clone());
            return Ok(if accepted.syntax == Syntax::Json && !accepted.pretty {
                respond::compressed(self.headers, response, &bytes)
            } else {
                response
            });
        }
        let objects: Vec<Value> = page
            .records
            .iter()
            .map(|record| codec.read(record, version))
            .collect::<Result<_>>()?;
        let list = match accepted.transform {
            Transform::Table(meta_version) => {
                let include = IncludeObject::parse(self.query.get("includeObject"))?;
                let now = self.server.registry.now();
                table(
                    meta_version,
                    &version.columns,
                    include,
                    &objects,
                    &metadata,
                    true,
                    now,
                )
            }
            Transform::Metadata(meta_version) => json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": meta_version.api_version(),
                "metadata": metadata,
                "items": objects.iter().map(|object| partial(meta_version, object)).collect::<Vec<_>>(),
            }),
            Transform::None => Value::Null,
        };
        let bytes = encode(&list);
        let response = respond::value(StatusCode::OK, accepted, &list);
        Ok(if accepted.syntax == Syntax::Json && !accepted.pretty {
            respond::compressed(self.headers, response, &bytes)
        } else {
            response
        })
    }

    fn watch(&self, target: &Target) -> Result<Response<ResponseBody>> {
        let accepted = self.accepted(Shape::Watch)?;
        let options = self.list_options(target, true)?;
        let include = IncludeObject::parse(self.query.get("includeObject"))?;
        let watch = self.server.registry.watch(target, options)?;
        let running = self.server.metrics.long_running(self.path);
        Ok(super::watch::respond(
            watch,
            accepted,
            include,
            Box::pin(self.server.shutdown()),
            Box::new(running),
        ))
    }

    fn write_body(&self) -> Result<Body> {
        parse_body(&self.body, body_syntax(self.header(header::CONTENT_TYPE))?)
    }

    async fn create(&self, target: &Target) -> Result<Response<ResponseBody>> {
        let accepted = self.accepted(Shape::Object)?;
        let options = WriteOptions::parse(self.query, "CreateOptions")?;
        let request = Request {
            target,
            caller: self.caller,
            options: &options,
        };
        let written = self.server.registry.create(request, self.write_body()?).await?;
        Ok(self.written(accepted, target, written))
    }

    async fn update(&self, target: &Target) -> Result<Response<ResponseBody>> {
        let accepted = self.accepted(Shape::Object)?;
        let options = WriteOptions::parse(self.query, "UpdateOptions")?;
        let request = Request {
            target,
            caller: self.caller,
            options: &options,
        };
        let written = self.server.registry.update(request, self.write_body()?).await?;
        Ok(self.written(accepted, target, written))
    }

    async fn patch(&self, target: &Target) -> Result<Response<ResponseBody>> {
        let accepted = self.accepted(Shape::Object)?;
        let format = PatchFormat::parse(target, self.header(header::CONTENT_TYPE))?;
        let options = WriteOptions::parse(self.query, "PatchOptions")?;
        let request = Request {
            target,
            caller: self.caller,
            options: &options,
        };
        let written = self.server.registry.patch(request, format, &self.body).await?;
        Ok(self.written(accepted, target, written))
    }

    fn delete_options(&self) -> Result<DeleteOptions> {
        if self.body.is_empty() {
            return DeleteOptions::parse(self.query, None);
        }
        DeleteOptions::parse(self.query, Some(&self.write_body()?.value))
    }

    async fn delete(&self, target: &Target) -> Result<Response<ResponseBody>> {
        let accepted = self.accepted(Shape::Object)?;
        let options = self.delete_options()?;
        let resource = &target.resource;
        match self.server.registry.delete(target, self.caller, &options).await? {
            Deleted::Gone(object) if !resource.strategy.delete_returns_object => {
                let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
                let status = deleted(&resource.group, &resource.plural, &target.name, uid);
                Ok(respond::value(
                    StatusCode::OK,
                    Accepted {
                        transform: Transform::None,
                        ..accepted
                    },
                    &status,
                ))
            }
            Deleted::Gone(object) | Deleted::Pending(object) => {
                Ok(self.object(StatusCode::OK, accepted, target, object))
            }
        }
    }

    async fn delete_collection(&self, target: &Target) -> Result<Response<ResponseBody>> {
        let accepted = self.accepted(Shape::Fixed)?;
        let selection = self.list_options(target, false)?;
        let options = self.delete_options()?;
        let items = self
            .server
            .registry
            .delete_collection(target, self.caller, &selection, &options)
            .await?;
        let list = json!({
            "apiVersion": target.api_version(),
            "kind": target.resource.list_kind,
            "metadata": { "resourceVersion": self.server.registry.store().revision().to_string() },
            "items": items,
        });
        Ok(respond::value(StatusCode::OK, accepted, &list))
    }

    fn written(&self, accepted: Accepted, target: &Target, written: Written) -> Response<ResponseBody> {
        let code = if written.created {
            StatusCode::CREATED
        } else {
            StatusCode::OK
        };
        let mut response = self.object(code, accepted, target, written.object);
        respond::warn(response.headers_mut(), &written.warnings);
        response
    }

    fn object(
        &self,
        code: StatusCode,
        accepted: Accepted,
        target: &Target,
        object: Value,
    ) -> Response<ResponseBody> {
        self.transformed(code, accepted, IncludeObject::default(), target, object)
    }

    fn transformed(
        &self,
        code: StatusCode,
        accepted: Accepted,
        include: IncludeObject,
        target: &Target,
        object: Value,
    ) -> Response<ResponseBody> {
        let object = match accepted.transform {
            Transform::None => object,
            Transform::Metadata(version) => partial(version, &object),
            Transform::Table(version) => {
                let metadata = json!({ "resourceVersion": object["metadata"]["resourceVersion"] });
                let now = self.server.registry.now();
                table(
                    version,
                    &target.version().columns,
                    include,
                    &[object],
                    &metadata,
                    true,
                    now,
                )
            }
        };
        respond::value(code, accepted, &object)
    }
}

fn list_metadata(page: &Page) -> Value {
    let mut metadata = json!({ "resourceVersion": page.revision.to_string() });
    if !page.continue_token.is_empty() {
        metadata["continue"] = json!(page.continue_token);
        if let Some(remaining) = page.remaining {
            metadata["remainingItemCount"] = json!(remaining);
        }
    }
    metadata
}

/// A list, put together from its encoded items.
fn encoded_list(
    target: &Target,
    page: &Page,
    served: impl Fn(&capstan_store::Record) -> Result<Bytes>,
) -> Result<Bytes> {
    let head = json!({
        "kind": target.resource.list_kind,
        "apiVersion": target.api_version(),
        "metadata": list_metadata(page),
    });
    let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
    bytes.pop();
    bytes.extend_from_slice(b",\"items\":[");
    for (index, record) in page.records.iter().enumerate() {
        if index > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(&served(record)?);
    }
    bytes.extend_from_slice(b"]}");
    Ok(Bytes::from(bytes))
}
