//! Images: whether they are there, pulling them, saving them, and single files of them.

use bollard::{models::ContainerCreateBody, query_parameters::CreateImageOptionsBuilder};
use bytes::Bytes;
use futures::{Stream, StreamExt as _, TryStreamExt as _};

use super::{Docker, DockerError, IMAGE_LIMIT};

impl Docker {
    /// Whether the Engine has an image.
    pub async fn has_image(&self, image: &str) -> Result<bool, DockerError> {
        let found = self.client().await?.inspect_image(image).await;
        match found.map_err(|it| self.error("inspect image", image, it)) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Pulls an image.
    pub async fn pull(&self, image: &str) -> Result<(), DockerError> {
        let options = CreateImageOptionsBuilder::new().from_image(image).build();
        let client = self.client().await?.clone().with_timeout(IMAGE_LIMIT);
        let mut progress = Box::pin(client.create_image(Some(options), None, None));
        while let Some(part) = progress.next().await {
            part.map_err(|it| self.error("pull image", image, it))?;
        }
        Ok(())
    }

    /// An image as a tar archive, as `docker save` prints it.
    pub async fn save(
        &self,
        image: &str,
    ) -> Result<impl Stream<Item = Result<Bytes, DockerError>> + use<'_>, DockerError> {
        let client = self.client().await?.clone().with_timeout(IMAGE_LIMIT);
        let (this, name) = (self, image.to_owned());
        let (sender, receiver) = tokio::sync::mpsc::channel(4);
        let its_name = name.clone();
        tokio::spawn(async move {
            let mut parts = Box::pin(client.export_image(&its_name));
            while let Some(part) = parts.next().await {
                if sender.send(part).await.is_err() {
                    break;
                }
            }
        });
        let parts = futures::stream::unfold(receiver, |mut it| async {
            it.recv().await.map(|part| (part, it))
        });
        Ok(parts.map_err(move |it| this.error("save image", &name, it)))
    }

    /// A file of an image; none if the image has no such file.
    pub async fn image_file(&self, image: &str, path: &str) -> Result<Option<Vec<u8>>, DockerError> {
        let body = ContainerCreateBody {
            image: Some(image.to_owned()),
            cmd: Some(vec!["true".to_owned()]),
            labels: Some([(crate::naming::OWNER_LABEL.to_owned(), "look".to_owned())].into()),
            ..ContainerCreateBody::default()
        };
        let made = self
            .client()
            .await?
            .create_container(None, body)
            .await
            .map_err(|it| self.error("look into image", image, it))?;
        let content = self.read_file(&made.id, path).await;
        self.remove(&made.id).await?;
        content
    }
}
